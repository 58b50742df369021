#include "worker/daemon/job_data.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
        JobId(1), spec_, cache_, loop_,
        [this](const absl::Status& outcome) { outcomes_.push_back(outcome); });
  }

  const std::string root_;
  runtime::PosixFiles files_;
  runtime::ManualLoop loop_;
  runtime::LoopExecutor fetcher_{loop_};
  OneFolder store_{root_ + "/store", files_};
  DataCache cache_{{.files = files_,
                    .places = store_,
                    .loop = loop_,
                    .fetcher = fetcher_,
                    .folder = root_ + "/cache",
                    .bytes_max = 1 << 20}};
  job::JobSpec spec_;
  std::vector<absl::Status> outcomes_;
};

TEST_F(JobDataTest, AFolderIsThereAndNobodyAsksTheCache) {
  spec_.data.path = "/srv/data";
  JobData data = MakeData();
  EXPECT_TRUE(data.Take());
  EXPECT_EQ(data.folder(), "/srv/data");
  EXPECT_FALSE(data.is_verified());
  EXPECT_EQ(data.news(), "");
  data.Release();
  loop_.RunUntilIdle();
  EXPECT_TRUE(outcomes_.empty());
  EXPECT_EQ(store_.opened, 0);
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
