#include "worker/daemon/data_cache.h"

#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/sha256.h"
#include "data/manifest.h"
#include "data/token_shard.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/directory_blob_store.h"
#include "runtime/posix/posix_files.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"
#include "worker/daemon/data_source.h"

namespace skerry::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string HashOf(const std::string& text) {
  return Sha256Hex(std::as_bytes(std::span(text)));
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Folders whose reads are noted and can fail.
class Stores final : public runtime::BlobStores {
 public:
  explicit Stores(runtime::Files& files) : folders_(files) {}

  absl::StatusOr<std::unique_ptr<runtime::BlobStore>> Open(
      const std::string& place) override {
    if (!open_error.ok()) return open_error;
    auto opened = folders_.Open(place);
    return std::make_unique<Store>(*this, *std::move(opened));
  }

  absl::Status open_error;
  // What reading a key ends with, after half of its bytes.
  std::map<std::string, absl::Status> read_errors;
  // Runs before a key is read.
  std::function<void(const std::string& key)> on_read = [](const auto&) {};
  std::vector<std::string> reads;

 private:
  class Store final : public runtime::BlobStore {
   public:
    Store(Stores& all, std::unique_ptr<runtime::BlobStore> inner)
        : all_(all), inner_(std::move(inner)) {}
    absl::Status Put(const std::string&, runtime::ByteSpan) override {
      return absl::UnimplementedError("nobody writes");
    }
    absl::StatusOr<std::vector<std::byte>> Get(
        const std::string& key) const override {
      return inner_->Get(key);
    }
    absl::Status Read(const std::string& key,
                      absl::FunctionRef<absl::Status(runtime::ByteSpan)> take)
        const override {
      all_.reads.push_back(key);
      all_.on_read(key);
      const auto bytes = inner_->Get(key);
      if (!bytes.ok()) return bytes.status();
      const auto half = runtime::ByteSpan(*bytes).first(bytes->size() / 2);
      absl::Status taken = take(half);
      if (!taken.ok()) return taken;
      if (all_.read_errors.contains(key)) return all_.read_errors.at(key);
      return take(runtime::ByteSpan(*bytes).subspan(half.size()));
    }
    absl::StatusOr<std::vector<std::string>> List(
        const std::string& folder) const override {
      return inner_->List(folder);
    }
    absl::Status Delete(const std::string&) override {
      return absl::UnimplementedError("nobody writes");
    }
    absl::Status RemoveLeftovers() override { return absl::OkStatus(); }

   private:
    Stores& all_;
    const std::unique_ptr<runtime::BlobStore> inner_;
  };

  runtime::Folders folders_;
};

class DataCacheTest : public testing::Test {
 protected:
  DataCacheTest() : root_(testing::TempDir() + "/data_cache_test") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    Restart(1 << 20);
  }
  ~DataCacheTest() override {
    ReleaseAll();
    std::filesystem::remove_all(root_);
  }

  // Another process over the same disk.
  void Restart(uint64_t bytes_max) {
    ReleaseAll();
    cache_.emplace(DataCacheOptions{.files = files_,
                                    .loop = loop_,
                                    .fetcher = fetcher_,
                                    .folder = root_ + "/cache/data",
                                    .bytes_max = bytes_max});
    cache_->Start();
    loop_.RunUntilIdle();
  }

  struct Set {
    std::string place;
    std::string sha256;
  };
  // Writes a data set of so many shards into a store. Each shard has
  // kShardBytes.
  Set Write(const std::string& name, int shards) {
    Set set{.place = absl::StrCat(root_, "/stores/", name), .sha256 = ""};
    std::filesystem::create_directories(set.place);
    data::Manifest manifest;
    manifest.tokenizer = "tokenizer.json";
    manifest.tokenizer_sha256 = HashOf(name);
    Put(set, "tokenizer.json", name);
    manifest.vocab_size = 300;
    for (int i = 0; i < shards; ++i) {
      const std::vector<uint16_t> tokens(kTokens, uint16_t(++written_ % 300));
      const std::string bytes = *data::EncodeTokenShard(tokens);
      manifest.shards.push_back({absl::StrCat("train_", i), kTokens,
                                 HashOf(bytes), data::Split::kTrain});
      Put(set, manifest.shards.back().file, bytes);
    }
    const std::string text = data::SerializeManifest(manifest);
    set.sha256 = HashOf(text);
    Put(set, "manifest.json", text);
    return set;
  }
  static void Put(const Set& set, const std::string& file,
                  const std::string& bytes) {
    std::ofstream(absl::StrCat(set.place, "/", file), std::ios::binary)
        << bytes;
  }

  std::shared_ptr<DataSource> At(const Set& set) {
    return std::make_shared<StoreSource>(set.place, stores_);
  }
  // Takes the set and waits for the outcome.
  absl::Status Take(const Set& set) {
    std::optional<absl::Status> outcome;
    auto use = cache_->Take(At(set), set.sha256,
                            [&](absl::Status said) { outcome = said; });
    loop_.RunUntilIdle();
    if (!outcome.has_value()) return absl::InternalError("nobody answered");
    if (outcome->ok()) uses_.push_back(std::move(use));
    return *outcome;
  }
  void ReleaseAll() {
    uses_.clear();
    loop_.RunUntilIdle();
  }

  // Whether the cache has all bytes of the set.
  bool IsWhole(const Set& set) const {
    for (const auto& entry : std::filesystem::directory_iterator(set.place)) {
      const std::string name = entry.path().filename();
      if (TextOf(absl::StrCat(cache_->FolderOf(set.sha256), "/", name)) !=
          TextOf(entry.path())) {
        return false;
      }
    }
    return true;
  }
  // Bytes of all files below the cache, leftovers too.
  uint64_t OnDisk() const {
    uint64_t sum = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(root_ + "/cache")) {
      if (entry.is_regular_file()) sum += entry.file_size();
    }
    return sum;
  }
  double Value(const std::string& name) const {
    std::vector<runtime::Metric> metrics;
    cache_->AddMetrics(metrics);
    for (const auto& metric : metrics) {
      if (metric.name == name) return metric.samples[0].value;
    }
    return -1;
  }

  static constexpr uint64_t kTokens = 2000;
  static constexpr uint64_t kShardBytes = 1024 + 2 * kTokens;

  const std::string root_;
  runtime::PosixFiles files_;
  runtime::ManualLoop loop_;
  runtime::LoopExecutor fetcher_{loop_};
  Stores stores_{files_};
  int written_ = 0;
  std::optional<DataCache> cache_;
  std::vector<std::unique_ptr<DataCache::Use>> uses_;
};

TEST_F(DataCacheTest, ASetIsFetchedOnceAndIsAFolderThen) {
  const Set set = Write("a", 3);
  EXPECT_FALSE(cache_->SeemsWhole(set.sha256));
  ASSERT_TRUE(Take(set).ok());
  EXPECT_TRUE(IsWhole(set));
  EXPECT_TRUE(cache_->SeemsWhole(set.sha256));
  // Shards follow the order in which the manifest lists them.
  EXPECT_THAT(stores_.reads, ElementsAre("manifest.json", "tokenizer.json",
                                         "train_0", "train_1", "train_2"));
  EXPECT_EQ(Value("skerry_worker_data_fetched_bytes_total"), 3 * kShardBytes);
  stores_.reads.clear();
  ASSERT_TRUE(Take(set).ok());
  Restart(1 << 20);
  ASSERT_TRUE(Take(set).ok());
  EXPECT_THAT(stores_.reads, IsEmpty());
}

TEST_F(DataCacheTest, TwoJobsThatAskTogetherFetchOnce) {
  const Set set = Write("a", 3);
  int ready = 0;
  const auto done = [&](const absl::Status& said) { ready += said.ok(); };
  const auto first = cache_->Take(At(set), set.sha256, done);
  const auto second = cache_->Take(At(set), set.sha256, done);
  loop_.RunUntilIdle();
  EXPECT_EQ(ready, 2);
  EXPECT_EQ(stores_.reads.size(), 5u);
}

TEST_F(DataCacheTest, ASmallSetDoesNotWaitForALargeOne) {
  const Set large = Write("large", 40);
  const Set small = Write("small", 1);
  std::vector<std::string> ready;
  const auto one = cache_->Take(
      At(large), large.sha256, [&](absl::Status) { ready.push_back("large"); });
  const auto other = cache_->Take(At(small), small.sha256, [&](absl::Status) {
    ready.push_back("small");
    EXPECT_LT(stores_.reads.size(), 15u);
  });
  loop_.RunUntilIdle();
  EXPECT_THAT(ready, ElementsAre("small", "large"));
}

TEST_F(DataCacheTest, AWrongByteInTheStoreIsNamedAndNeverUsed) {
  const Set set = Write("a", 3);
  std::string shard = TextOf(set.place + "/train_1");
  shard[2000] = static_cast<char>(shard[2000] ^ 1);
  Put(set, "train_1", shard);
  const absl::Status taken = Take(set);
  EXPECT_TRUE(absl::IsDataLoss(taken));
  EXPECT_THAT(std::string(taken.message()),
              HasSubstr("train_1 has the SHA-256"));
  EXPECT_FALSE(
      std::filesystem::exists(cache_->FolderOf(set.sha256) + "/train_1"));
  EXPECT_FALSE(cache_->SeemsWhole(set.sha256));
  shard[2000] = static_cast<char>(shard[2000] ^ 1);
  Put(set, "train_1", shard);
  stores_.reads.clear();
  ASSERT_TRUE(Take(set).ok());
  EXPECT_TRUE(IsWhole(set));
  // The shard before it was right, and is not fetched again.
  EXPECT_THAT(stores_.reads, ::testing::Not(::testing::Contains("train_0")));
}

TEST_F(DataCacheTest, ShardsThatAreTooLongOrTooShortAreNamed) {
  const Set set = Write("a", 2);
  const std::string shard = TextOf(set.place + "/train_0");
  Put(set, "train_0", shard + "x");
  EXPECT_THAT(std::string(Take(set).message()),
              HasSubstr("train_0 is longer than"));
  Put(set, "train_0", shard.substr(1));
  EXPECT_THAT(std::string(Take(set).message()), HasSubstr("train_0 has"));
}

TEST_F(DataCacheTest, AnotherManifestOrTokenizerIsRefused) {
  const Set set = Write("a", 1);
  const std::string manifest = TextOf(set.place + "/manifest.json");
  Put(set, "manifest.json", manifest + "\n");
  EXPECT_THAT(std::string(Take(set).message()),
              HasSubstr("manifest.json has the SHA-256"));
  Put(set, "manifest.json", manifest);
  Put(set, "tokenizer.json", "another");
  EXPECT_THAT(std::string(Take(set).message()),
              HasSubstr("tokenizer.json has the SHA-256"));
  EXPECT_EQ(Value("skerry_worker_data_cache_bytes"), 0);
}

TEST_F(DataCacheTest, FaultsOfTheStoreEndTheFetchAndLeaveNoUse) {
  const Set set = Write("a", 3);
  stores_.open_error = absl::FailedPreconditionError("there are no keys");
  EXPECT_EQ(Take(set).message(), "there are no keys");
  stores_.open_error = absl::OkStatus();
  stores_.read_errors["train_2"] = absl::UnavailableError("connection reset");
  EXPECT_EQ(Take(set).message(), "connection reset");
  stores_.read_errors.clear();
  std::filesystem::remove(set.place + "/train_2");
  const absl::Status missing = Take(set);
  EXPECT_TRUE(absl::IsNotFound(missing)) << missing;
  EXPECT_THAT(std::string(missing.message()), HasSubstr("train_2"));
  // Nothing is in use: another set may take all of the room.
  Restart(2 * kShardBytes + 1000);
  EXPECT_TRUE(Take(Write("b", 2)).ok());
}

TEST_F(DataCacheTest, AFullDiskEndsTheFetchAndLeavesNothingHalf) {
  const Set set = Write("a", 2);
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit full{.rlim_cur = kShardBytes - 1, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const absl::Status taken = Take(set);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(taken)) << taken;
  EXPECT_THAT(std::string(taken.message()), HasSubstr("cannot write"));
  // Manifest and tokenizer are there, and no shard.
  EXPECT_LT(OnDisk(), 1000u);
  EXPECT_TRUE(Take(set).ok());
  EXPECT_TRUE(IsWhole(set));
}

TEST_F(DataCacheTest, AFileThatRottedOnTheDiskIsFetchedAgain) {
  const Set set = Write("a", 2);
  ASSERT_TRUE(Take(set).ok());
  ReleaseAll();
  const std::string path = cache_->FolderOf(set.sha256) + "/train_1";
  std::string shard = TextOf(path);
  shard[3000] = static_cast<char>(shard[3000] ^ 4);
  std::ofstream(path, std::ios::binary) << shard;
  Restart(1 << 20);
  stores_.reads.clear();
  ASSERT_TRUE(Take(set).ok());
  EXPECT_TRUE(IsWhole(set));
  EXPECT_THAT(stores_.reads, ElementsAre("train_1"));
  // One that vanished while the process lives is missed as well.
  ReleaseAll();
  std::filesystem::remove(path);
  ASSERT_TRUE(Take(set).ok());
  EXPECT_TRUE(IsWhole(set));
}

TEST_F(DataCacheTest, TheSetUsedLongestAgoMakesRoomAlsoAfterARestart) {
  const Set a = Write("a", 2);
  const Set b = Write("b", 2);
  const Set c = Write("c", 2);
  ASSERT_TRUE(Take(a).ok());
  ASSERT_TRUE(Take(b).ok());
  ASSERT_TRUE(Take(a).ok());
  ReleaseAll();
  const uint64_t limit = 5 * kShardBytes;
  Restart(limit);
  ASSERT_TRUE(Take(c).ok());
  EXPECT_TRUE(IsWhole(a));
  EXPECT_FALSE(IsWhole(b));
  EXPECT_TRUE(IsWhole(c));
  EXPECT_LE(OnDisk(), limit);
  EXPECT_GE(Value("skerry_worker_data_removed_bytes_total"), kShardBytes);
  // a is not in use and c is.
  ASSERT_TRUE(Take(b).ok());
  EXPECT_TRUE(IsWhole(c));
  EXPECT_FALSE(IsWhole(a));
  EXPECT_TRUE(absl::IsUnavailable(Take(a)));
  EXPECT_LE(OnDisk(), limit);
}

TEST_F(DataCacheTest, ALowerLimitIsKeptFromTheStart) {
  ASSERT_TRUE(Take(Write("a", 2)).ok());
  ASSERT_TRUE(Take(Write("b", 2)).ok());
  ReleaseAll();
  Restart(3 * kShardBytes);
  EXPECT_LE(OnDisk(), 3 * kShardBytes);
}

TEST_F(DataCacheTest, HalfAFileOfAKilledProcessIsRemovedAndNeverUsed) {
  const Set set = Write("a", 2);
  const std::string folder = cache_->FolderOf(set.sha256);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/train_0.7.tmp") << std::string(900, 'x');
  // Killed after the name was given and before the bytes were there: the disk
  // lies, and the hash tells.
  std::ofstream(folder + "/train_1") << std::string(kShardBytes, '\0');
  Restart(1 << 20);
  EXPECT_FALSE(std::filesystem::exists(folder + "/train_0.7.tmp"));
  ASSERT_TRUE(Take(set).ok());
  EXPECT_TRUE(IsWhole(set));
}

TEST_F(DataCacheTest, AUseThatIsDroppedEndsTheFetch) {
  const Set set = Write("a", 20);
  bool answered = false;
  std::unique_ptr<DataCache::Use> use =
      cache_->Take(At(set), set.sha256, [&](absl::Status) { answered = true; });
  stores_.on_read = [&](const std::string& key) {
    if (key == "train_3") use.reset();
  };
  loop_.RunUntilIdle();
  EXPECT_FALSE(answered);
  EXPECT_LE(stores_.reads.size(), 8u);
  // What it held is free.
  Restart(3 * kShardBytes);
  EXPECT_TRUE(Take(Write("b", 2)).ok());
}

TEST_F(DataCacheTest, WaitsOfJobsAddUp) {
  cache_->OnWaitBegins();
  loop_.Advance(absl::Seconds(3));
  cache_->OnWaitBegins();
  loop_.Advance(absl::Seconds(2));
  EXPECT_EQ(Value("skerry_worker_data_wait_seconds_total"), 7);
  cache_->OnWaitEnds();
  cache_->OnWaitEnds();
  loop_.Advance(absl::Seconds(9));
  EXPECT_EQ(Value("skerry_worker_data_wait_seconds_total"), 7);
}

// Any order of takes, releases, faults and restarts.
TEST_F(DataCacheTest, WhateverHappensWhatIsReadyIsWholeAndTheLimitIsKept) {
  constexpr uint64_t kLimit = 9 * kShardBytes;
  std::vector<Set> sets;
  for (int i = 0; i < 5; ++i) {
    sets.push_back(Write(absl::StrCat("set", i), 1 + i % 4));
  }
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    Restart(kLimit);
    std::vector<std::pair<size_t, std::unique_ptr<DataCache::Use>>> uses;
    for (int step = 0; step < 60; ++step) {
      stores_.read_errors.clear();
      if (random.Below(3) == 0) {
        stores_.read_errors[absl::StrCat("train_", random.Below(4))] =
            absl::UnavailableError("connection reset");
      }
      const size_t which = random.Below(sets.size());
      const uint64_t what = random.Below(8);
      if (what < 5) {
        std::optional<absl::Status> said;
        auto use = cache_->Take(At(sets[which]), sets[which].sha256,
                                [&](absl::Status status) { said = status; });
        if (what == 0) use.reset();
        loop_.RunUntilIdle();
        if (use != nullptr && said->ok())
          uses.emplace_back(which, std::move(use));
        use.reset();
        loop_.RunUntilIdle();
      } else if (what < 7) {
        if (!uses.empty()) uses.erase(uses.begin() + random.Below(uses.size()));
        loop_.RunUntilIdle();
      } else {
        uses.clear();
        Restart(kLimit);
      }
      ASSERT_LE(OnDisk(), kLimit);
      for (const auto& [used, held] : uses) ASSERT_TRUE(IsWhole(sets[used]));
    }
  }
}

}  // namespace
}  // namespace skerry::worker
