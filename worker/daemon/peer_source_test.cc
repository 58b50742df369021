#include "worker/daemon/peer_source.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "data/manifest.h"
#include "data/token_shard.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/posix/posix_files.h"
#include "worker/daemon/data_set_copy.h"

namespace skerry::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using transport::kDataChunkBytes;

constexpr uint64_t kTokens = 6'000'000;  // shards of two chunks

std::string HashOf(const std::string& text) {
  return Sha256Hex(std::as_bytes(std::span(text)));
}

// Workers that have a data set of three shards, each with files of its own.
class PeerSourceTest : public testing::Test {
 protected:
  PeerSourceTest() : folder_(testing::TempDir() + "/peer_source_test") {
    std::filesystem::remove_all(folder_);
    data::Manifest manifest;
    manifest.tokenizer = "tokenizer.json";
    manifest.tokenizer_sha256 = HashOf("words");
    manifest.vocab_size = 300;
    files_.emplace(kTokenizerNumber, "words");
    for (uint64_t i = 0; i < 3; ++i) {
      const std::vector<uint16_t> tokens(i == 0 ? kTokens : 10,
                                         static_cast<uint16_t>(i));
      const std::string shard = *data::EncodeTokenShard(tokens);
      manifest.shards.push_back({absl::StrCat("train_", i), tokens.size(),
                                 HashOf(shard), data::Split::kTrain});
      files_.emplace(kFirstShardNumber + i, shard);
    }
    files_.emplace(kManifestNumber, data::SerializeManifest(manifest));
    sha256_ = HashOf(files_[kManifestNumber]);
    for (const char* name : {"a", "b"}) workers_[name] = files_;
    holders_->Set({"a", "b"});
  }
  ~PeerSourceTest() override { std::filesystem::remove_all(folder_); }

  PeerSourceOptions Options() {
    return {.job = JobId(4),
            .set = sha256_,
            .holders = holders_,
            .ask =
                [this](const std::string& worker, const protocol::PieceKey& key,
                       transport::BulkTransport::FetchDone done) {
                  std::move(done)(Answer(worker, key));
                },
            .retry_wait = absl::ZeroDuration()};
  }
  absl::StatusOr<SharedBytes> Answer(const std::string& worker,
                                     const protocol::PieceKey& key) {
    EXPECT_EQ(key.job, JobId(4));
    EXPECT_EQ(key.kind, protocol::PieceKey::Kind::kData);
    EXPECT_EQ(key.hash, ShortHash(sha256_));
    asked_.push_back(absl::StrCat(worker, key.file, "@", key.offset_bytes));
    if (on_ask_) on_ask_();
    if (dead_.contains(worker)) return dead_.at(worker);
    const std::string& file = workers_.at(worker).at(key.file);
    const std::string part = file.substr(key.offset_bytes, kDataChunkBytes);
    const auto bytes = std::as_bytes(std::span(part));
    return SharedBytes(std::vector<std::byte>(bytes.begin(), bytes.end()));
  }

  // Fetches all files of the set.
  absl::Status Copy(PeerSource& source) {
    DataSetCopy copy(sha256_, folder_, disk_, source);
    if (const auto opened = copy.Open(); !opened.ok()) return opened;
    if (const auto small = copy.WriteSmall(); !small.ok()) return small;
    for (const DataFile& shard : copy.shards()) {
      const absl::Status got =
          copy.Fetch(shard, [](size_t) { return absl::OkStatus(); });
      if (!got.ok()) return got;
      EXPECT_TRUE(copy.IsRight(shard));
    }
    return absl::OkStatus();
  }

  const std::string folder_;
  runtime::PosixFiles disk_;
  std::map<uint64_t, std::string> files_;
  std::map<std::string, std::map<uint64_t, std::string>> workers_;
  std::map<std::string, absl::Status> dead_;
  std::function<void()> on_ask_;
  std::vector<std::string> asked_;
  std::string sha256_;
  const std::shared_ptr<DataHolders> holders_ = std::make_shared<DataHolders>();
};

TEST(ShortHashTest, IsTheFirstEightBytes) {
  EXPECT_EQ(ShortHash("0102030405060708ffff"), 0x0807060504030201u);
  EXPECT_EQ(ShortHash("abcdef0000000000"), 0xefcdabu);
}

TEST_F(PeerSourceTest, AllFilesComeFromTheFirstWorkerInChunks) {
  PeerSource source(Options());
  ASSERT_TRUE(Copy(source).ok());
  EXPECT_THAT(asked_, ElementsAre("a0@0", "a1@0", "a2@0",
                                  absl::StrCat("a2@", kDataChunkBytes), "a3@0",
                                  "a4@0"));
  EXPECT_EQ(source.trouble(), "");
}

TEST_F(PeerSourceTest, ADamagedShardIsNamedAndComesFromTheNextWorker) {
  workers_["a"][kFirstShardNumber][kDataChunkBytes + 5] ^= 1;
  PeerSource source(Options());
  ASSERT_TRUE(Copy(source).ok());
  EXPECT_THAT(source.trouble(),
              HasSubstr("worker a: train_0 has the SHA-256 "));
  // Whoever has failed is asked last.
  EXPECT_EQ(asked_.back(), "b4@0");
  EXPECT_THAT(source.Origins(), ElementsAre("b", "a"));
}

TEST_F(PeerSourceTest, IfEveryWorkersShardIsDamagedAllAreNamed) {
  for (const char* name : {"a", "b"}) {
    workers_[name][kFirstShardNumber + 1] += "x";
  }
  PeerSource source(Options());
  const absl::Status copied = Copy(source);
  EXPECT_TRUE(absl::IsDataLoss(copied));
  EXPECT_THAT(std::string(copied.message()),
              HasSubstr("worker a: train_1 is longer than"));
  EXPECT_THAT(std::string(copied.message()),
              HasSubstr("; worker b: train_1 is longer than"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/train_1"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/train_0"));
}

TEST_F(PeerSourceTest, AWorkerThatDiesIsAskedTwiceAndThenTheNext) {
  int chunks = 0;
  on_ask_ = [&] {
    // In the middle of the first shard.
    if (++chunks == 4) dead_["a"] = absl::UnavailableError("connection lost");
  };
  PeerSource source(Options());
  ASSERT_TRUE(Copy(source).ok());
  EXPECT_THAT(source.trouble(), HasSubstr("worker a: connection lost"));
  EXPECT_EQ(std::count(asked_.begin(), asked_.end(),
                       absl::StrCat("a2@", kDataChunkBytes)),
            2);
  EXPECT_EQ(std::count(asked_.begin(), asked_.end(), "b2@0"), 1);
}

TEST_F(PeerSourceTest, AnOlderWorkerRefusesAndTheNextIsAsked) {
  dead_["a"] = absl::InvalidArgumentError("fetch key of unknown kind 3");
  PeerSource source(Options());
  ASSERT_TRUE(Copy(source).ok());
  holders_->Set({"a"});
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(Copy(source).message(), "worker a: fetch key of unknown kind 3");
}

TEST_F(PeerSourceTest, TheOnlyWorkerThatCannotAnswerYetIsAskedAgain) {
  holders_->Set({"a"});
  dead_["a"] = absl::UnavailableError("ask again");
  on_ask_ = [&] {
    if (asked_.size() == 4) dead_.clear();
  };
  PeerSource source(Options());
  ASSERT_TRUE(Copy(source).ok());
  asked_.clear();
  on_ask_ = nullptr;
  std::filesystem::remove_all(folder_);
  dead_["a"] = absl::UnavailableError("ask again");
  EXPECT_EQ(Copy(source).message(), "worker a: ask again");
  EXPECT_EQ(asked_.size(), 5u);
}

TEST_F(PeerSourceTest, WithoutWorkersItSaysSoAndNewOnesAreTaken) {
  holders_->Set({});
  PeerSource source(Options());
  EXPECT_THAT(std::string(Copy(source).message()),
              HasSubstr("no worker that has the data set"));
  holders_->Set({"b"});
  EXPECT_TRUE(Copy(source).ok());
}

TEST_F(PeerSourceTest, AFileWithoutAnEndIsEndedByItsReader) {
  workers_["a"][kManifestNumber] = std::string(kSmallFileBytesMax + 1, 'x');
  workers_["a"][kFirstShardNumber] += std::string(4 * kDataChunkBytes, 'x');
  PeerSource source(Options());
  ASSERT_TRUE(Copy(source).ok());
}

TEST_F(PeerSourceTest, NothingIsReadOnceItIsDropped) {
  PeerSource source(Options());
  on_ask_ = [&] {
    if (asked_.size() == 3) source.Drop();
  };
  EXPECT_TRUE(absl::IsCancelled(Copy(source)));
  EXPECT_LE(asked_.size(), 4u);
  EXPECT_EQ(source.trouble(), "");
}

TEST_F(PeerSourceTest, WhoWaitsForAnAnswerIsWokenByTheDrop) {
  PeerSourceOptions options = Options();
  std::vector<transport::BulkTransport::FetchDone> asked;
  PeerSource* dropped = nullptr;
  // The answer never comes.
  options.ask = [&](const std::string&, const protocol::PieceKey&,
                    transport::BulkTransport::FetchDone done) {
    asked.push_back(std::move(done));
    dropped->Drop();
  };
  PeerSource source(std::move(options));
  dropped = &source;
  EXPECT_TRUE(absl::IsCancelled(Copy(source)));
  // A late one does no harm.
  std::move(asked[0])(absl::UnavailableError("late"));
}

}  // namespace
}  // namespace skerry::worker
