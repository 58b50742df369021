#include "worker/daemon/job_data.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "data/manifest.h"
#include "data/token_shard.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/directory_blob_store.h"
#include "runtime/posix/posix_files.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::worker {
namespace {

using ::testing::HasSubstr;

// An object store whose objects are files of one folder.
class OneFolder final : public runtime::BlobStores {
 public:
  OneFolder(std::string folder, runtime::Files& files)
      : folder_(std::move(folder)), files_(files) {}

  absl::StatusOr<std::unique_ptr<runtime::BlobStore>> Open(
      const std::string&) override {
    ++opened;
    if (!error.ok()) return error;
    return std::make_unique<runtime::DirectoryBlobStore>(folder_, files_);
  }

  absl::Status error;
  int opened = 0;

 private:
  const std::string folder_;
  runtime::Files& files_;
};

class JobDataTest : public testing::Test {
 protected:
  JobDataTest() : root_(testing::TempDir() + "/job_data_test") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/store");
    const std::vector<uint16_t> tokens(100, 7);
    const std::string shard = *data::EncodeTokenShard(tokens);
    data::Manifest manifest;
    manifest.tokenizer = "bytes";
    manifest.vocab_size = 256;
    manifest.shards = {{"train_0", tokens.size(),
                        Sha256Hex(std::as_bytes(std::span(shard))),
                        data::Split::kTrain}};
    const std::string text = data::SerializeManifest(manifest);
    std::ofstream(root_ + "/store/train_0") << shard;
    std::ofstream(root_ + "/store/manifest.json") << text;
    spec_.data.path = "s3://lab@models/text";
    spec_.data.manifest_sha256 = Sha256Hex(std::as_bytes(std::span(text)));
  }
  ~JobDataTest() override {
    loop_.RunUntilIdle();
    std::filesystem::remove_all(root_);
  }

  JobData MakeData() {
    return JobData(
        JobId(1), spec_,
        {.cache = cache_,
         .server = server_,
         .places = store_,
         .loop = loop_,
         .ask =
             [this](const std::string& worker, const protocol::PieceKey& key,
                    transport::BulkTransport::FetchDone done) {
               asked_.push_back(worker);
               std::move(done)(Answer(key));
             }},
        [this](const absl::Status& outcome) { outcomes_.push_back(outcome); },
        [this] { ++told_; });
  }
  // What a worker that has the set says.
  absl::StatusOr<SharedBytes> Answer(const protocol::PieceKey& key) {
    if (!peers_error_.ok()) return peers_error_;
    const char* const name =
        key.file == kManifestNumber ? "/store/manifest.json" : "/store/train_0";
    return SharedBytes(*files_.Read(root_ + name));
  }
  // A folder on this worker with the set, and one without.
  void PutIntoFolder() {
    std::filesystem::create_directories(root_ + "/folder");
    for (const char* name : {"/manifest.json", "/train_0"}) {
      std::filesystem::copy(root_ + "/store" + name, root_ + "/folder" + name);
    }
  }
  absl::StatusOr<SharedBytes> Give(JobData& data,
                                   const protocol::PieceKey& key) {
    std::optional<absl::StatusOr<SharedBytes>> given;
    data.Give(key, [&](auto said) { given = std::move(said); });
    loop_.RunUntilIdle();
    return *given;
  }
  protocol::PieceKey ManifestKey() const {
    return {.kind = protocol::PieceKey::Kind::kData,
            .hash = ShortHash(spec_.data.manifest_sha256),
            .job = JobId(1),
            .file = kManifestNumber};
  }

  const std::string root_;
  runtime::PosixFiles files_;
  runtime::ManualLoop loop_;
  runtime::LoopExecutor fetcher_{loop_};
  OneFolder store_{root_ + "/store", files_};
  DataCache cache_{{.files = files_,
                    .loop = loop_,
                    .fetcher = fetcher_,
                    .folder = root_ + "/cache",
                    .bytes_max = 1 << 20}};
  DataServer server_{files_, fetcher_, loop_};
  job::JobSpec spec_;
  std::vector<absl::Status> outcomes_;
  int told_ = 0;
  std::vector<std::string> asked_;
  absl::Status peers_error_;
};

TEST_F(JobDataTest, ASetInTheFolderIsUsedThereAndGivenToOthers) {
  PutIntoFolder();
  spec_.data.path = root_ + "/folder";
  JobData data = MakeData();
  data.LookOnce();
  EXPECT_FALSE(data.has_data());
  loop_.RunUntilIdle();
  EXPECT_TRUE(data.has_data());
  EXPECT_EQ(told_, 1);
  EXPECT_FALSE(data.OnHolders({"w9"}));
  EXPECT_TRUE(data.Take());
  EXPECT_EQ(data.folder(), root_ + "/folder");
  EXPECT_FALSE(data.is_verified());
  EXPECT_EQ(data.news(), "");
  EXPECT_GT(Give(data, ManifestKey())->size(), 100u);
  data.Release();
  loop_.RunUntilIdle();
  // It is given although no trainer reads it.
  EXPECT_TRUE(Give(data, ManifestKey()).ok());
  EXPECT_TRUE(outcomes_.empty());
  EXPECT_EQ(store_.opened, 0);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(JobDataTest, OnlyFilesOfTheSetAreGiven) {
  PutIntoFolder();
  spec_.data.path = root_ + "/folder";
  JobData data = MakeData();
  // It has not looked yet.
  EXPECT_TRUE(absl::IsUnavailable(Give(data, ManifestKey()).status()));
  EXPECT_TRUE(Give(data, ManifestKey()).ok());
  protocol::PieceKey key = ManifestKey();
  ++key.hash;
  EXPECT_TRUE(absl::IsNotFound(Give(data, key).status()));
  key = ManifestKey();
  key.file = kTokenizerNumber;  // the set has none
  EXPECT_TRUE(absl::IsNotFound(Give(data, key).status()));
  key.file = kFirstShardNumber + 1;
  EXPECT_TRUE(absl::IsNotFound(Give(data, key).status()));
  key.file = kFirstShardNumber;
  EXPECT_TRUE(Give(data, key).ok());
  key.offset_bytes = uint64_t{1} << 60;
  EXPECT_TRUE(absl::IsOutOfRange(Give(data, key).status()));
  // Who finds that a file has gone says that it has the set no more.
  std::filesystem::remove(root_ + "/folder/train_0");
  key.offset_bytes = 0;
  EXPECT_TRUE(absl::IsNotFound(Give(data, key).status()));
  EXPECT_FALSE(data.has_data());
  EXPECT_TRUE(absl::IsNotFound(Give(data, ManifestKey()).status()));
}

TEST_F(JobDataTest, AFolderWithoutTheSetWaitsForHoldersAndFetchesFromThem) {
  spec_.data.path = root_ + "/nowhere";
  JobData data = MakeData();
  EXPECT_FALSE(data.Take());
  loop_.RunUntilIdle();
  EXPECT_TRUE(outcomes_.empty());
  EXPECT_TRUE(data.OnHolders({"w1", "w2"}));
  EXPECT_FALSE(data.OnHolders({"w1", "w2"}));
  EXPECT_EQ(data.news(), "its data are still being fetched from worker w1, w2");
  loop_.RunUntilIdle();
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_TRUE(outcomes_[0].ok()) << outcomes_[0];
  EXPECT_TRUE(data.Take());
  EXPECT_TRUE(data.is_verified());
  EXPECT_EQ(data.folder(), cache_.FolderOf(spec_.data.manifest_sha256));
  EXPECT_EQ(asked_, std::vector<std::string>({"w1", "w1"}));
  // It gives what it has fetched for as long as it uses it.
  EXPECT_TRUE(data.has_data());
  EXPECT_TRUE(Give(data, ManifestKey()).ok());
  data.Release();
  EXPECT_FALSE(data.has_data());
  EXPECT_FALSE(loop_.NextTimer().has_value() &&
               *loop_.NextTimer() > loop_.Now() + JobData::kHoldersWithin);
  // A later job finds the cache whole, and asks nobody.
  asked_.clear();
  JobData second = MakeData();
  EXPECT_FALSE(second.Take());
  loop_.RunUntilIdle();
  EXPECT_TRUE(second.Take());
  EXPECT_TRUE(asked_.empty());
}

TEST_F(JobDataTest, AnotherSetInTheFolderIsNotUsed) {
  PutIntoFolder();
  std::ofstream(root_ + "/folder/manifest.json") << "{}";
  spec_.data.path = root_ + "/folder";
  JobData data = MakeData();
  data.OnHolders({"w1"});
  EXPECT_FALSE(data.Take());
  loop_.RunUntilIdle();
  EXPECT_TRUE(data.Take());
  EXPECT_TRUE(data.is_verified());
}

TEST_F(JobDataTest, IfNobodyHasTheSetTheTrainerSaysWhatIsWrong) {
  spec_.data.path = root_ + "/nowhere";
  JobData data = MakeData();
  EXPECT_FALSE(data.Take());
  loop_.RunUntilIdle();
  loop_.Advance(JobData::kHoldersWithin);
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_TRUE(data.Take());
  EXPECT_EQ(data.folder(), root_ + "/nowhere");
  EXPECT_FALSE(data.is_verified());
  EXPECT_FALSE(data.has_data());
  // The trainer has failed. Meanwhile somebody has the set.
  data.Release();
  EXPECT_TRUE(data.OnHolders({"w1"}));
  EXPECT_FALSE(data.Take());
  loop_.RunUntilIdle();
  EXPECT_TRUE(data.Take());
  EXPECT_TRUE(data.is_verified());
}

TEST_F(JobDataTest, AFetchThatFailsNamesTheWorkerAndIsTriedAgain) {
  peers_error_ = absl::PermissionDeniedError("no worker of job 1");
  spec_.data.path = root_ + "/folder";
  JobData data = MakeData();
  data.OnHolders({"w1"});
  EXPECT_FALSE(data.Take());
  loop_.RunUntilIdle();
  EXPECT_EQ(data.failure(),
            absl::StrCat("data.path ", spec_.data.path,
                         ": worker w1: no worker of job 1; tried again by "
                         "itself"));
  peers_error_ = absl::OkStatus();
  loop_.Advance(absl::Seconds(2));
  EXPECT_TRUE(data.Take());
  EXPECT_TRUE(data.is_verified());
  EXPECT_EQ(data.failure(), "");
  EXPECT_FALSE(loop_.NextTimer().has_value());
}

TEST_F(JobDataTest, SomebodyMayCopyTheSetIntoTheFolderMeanwhile) {
  peers_error_ = absl::PermissionDeniedError("no worker of job 1");
  spec_.data.path = root_ + "/folder";
  JobData data = MakeData();
  data.OnHolders({"w1"});
  EXPECT_FALSE(data.Take());
  loop_.RunUntilIdle();
  PutIntoFolder();
  loop_.Advance(absl::Seconds(2));
  EXPECT_TRUE(data.Take());
  EXPECT_EQ(data.folder(), root_ + "/folder");
  EXPECT_TRUE(data.has_data());
  EXPECT_EQ(data.failure(), "");
}

TEST_F(JobDataTest, AProgramOpensItsDataByItself) {
  spec_.data.path = "";
  spec_.model.program = job::JobSpec::Program{};
  JobData data = MakeData();
  data.LookOnce();
  EXPECT_TRUE(data.Take());
  EXPECT_FALSE(data.OnHolders({"w1"}));
  loop_.RunUntilIdle();
  EXPECT_FALSE(data.has_data());
  EXPECT_TRUE(absl::IsNotFound(Give(data, ManifestKey()).status()));
}

TEST_F(JobDataTest, DataOfAStoreAreWaitedForAndAreAFolderThen) {
  JobData data = MakeData();
  EXPECT_EQ(data.news(), "");
  EXPECT_FALSE(data.Take());
  EXPECT_EQ(data.news(),
            "its data are still being fetched from s3://lab@models/text");
  EXPECT_FALSE(data.Take());
  loop_.RunUntilIdle();
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_TRUE(outcomes_[0].ok());
  EXPECT_TRUE(data.Take());
  EXPECT_TRUE(data.is_verified());
  EXPECT_EQ(data.news(), "");
  EXPECT_TRUE(std::filesystem::exists(data.folder() + "/train_0"));
}

TEST_F(JobDataTest, WhatTheCacheHasIsNoReasonToLeaveAWorkerOut) {
  JobData first = MakeData();
  first.Take();
  loop_.RunUntilIdle();
  first.Release();
  JobData second = MakeData();
  EXPECT_FALSE(second.Take());
  EXPECT_EQ(second.news(), "");
  loop_.RunUntilIdle();
  EXPECT_TRUE(second.Take());
}

TEST_F(JobDataTest, AFaultIsNamedAndTriedAgainWithGrowingWaits) {
  store_.error = absl::FailedPreconditionError("there are no credentials");
  JobData data = MakeData();
  EXPECT_FALSE(data.Take());
  loop_.RunUntilIdle();
  EXPECT_EQ(data.failure(),
            "data.path s3://lab@models/text: there are no credentials; tried "
            "again by itself");
  EXPECT_EQ(data.news(), "");
  EXPECT_FALSE(data.Take());
  std::vector<absl::Duration> waits;
  for (int i = 0; i < 7; ++i) {
    waits.push_back(*loop_.NextTimer() - loop_.Now());
    loop_.AdvanceTo(*loop_.NextTimer());
  }
  EXPECT_THAT(waits, testing::ElementsAre(absl::Seconds(2), absl::Seconds(4),
                                          absl::Seconds(8), absl::Seconds(16),
                                          absl::Seconds(32), absl::Seconds(60),
                                          absl::Seconds(60)));
  EXPECT_EQ(store_.opened, 8);
  EXPECT_EQ(outcomes_.size(), 8u);
  store_.error = absl::OkStatus();
  loop_.AdvanceTo(*loop_.NextTimer());
  EXPECT_TRUE(data.Take());
  EXPECT_EQ(data.failure(), "");
  EXPECT_FALSE(loop_.NextTimer().has_value());
}

TEST_F(JobDataTest, NobodyAsksAgainForDataThatWereReleased) {
  store_.error = absl::UnavailableError("no route");
  JobData data = MakeData();
  data.Take();
  loop_.RunUntilIdle();
  data.Release();
  EXPECT_EQ(data.failure(), "");
  loop_.Advance(absl::Minutes(2));
  EXPECT_EQ(store_.opened, 1);
}

}  // namespace
}  // namespace skerry::worker
