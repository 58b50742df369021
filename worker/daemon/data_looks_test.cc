#include "worker/daemon/data_looks.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "checkpoint/checkpoint_store.h"
#include "data/manifest.h"
#include "gtest/gtest.h"
#include "runtime/directory_blob_store.h"
#include "runtime/posix/posix_files.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::worker {
namespace {

class DataLooksTest : public testing::Test {
 protected:
  DataLooksTest() : folder_(testing::TempDir() + "/looked_at") {
    std::filesystem::create_directories(folder_);
    data::Manifest manifest;
    manifest.tokenizer = "bytes";
    manifest.vocab_size = 257;
    manifest.shards = {{"a", 1000, std::string(64, 'a'), data::Split::kTrain}};
    std::ofstream(folder_ + "/manifest.json")
        << data::SerializeManifest(manifest);
  }
  ~DataLooksTest() override { std::filesystem::remove_all(folder_); }

  // Begins a checkpoint of that job in `store`, which is not finished yet.
  static checkpoint::CheckpointWriter Begin(runtime::BlobStore& store,
                                            const std::string& job) {
    auto writer = checkpoint::CheckpointStore(store).Begin(
        {.job = job, .job_id = 7, .sequence = 5, .samples = 0, .files = {}});
    EXPECT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE(writer->Add("config.json", {}).ok());
    return *std::move(writer);
  }

  std::vector<job::DataFacts> Said() {
    loop_.RunUntilIdle();
    return looks_.Facts();
  }

  const std::string folder_;
  runtime::ManualLoop loop_;
  runtime::LoopExecutor reader_{loop_};
  int changes_ = 0;
  DataLooks looks_{loop_, reader_, [this] { ++changes_; }};
};

TEST_F(DataLooksTest, WhatIsThereIsSaidOnceItIsRead) {
  looks_.OnPaths({folder_});
  EXPECT_TRUE(looks_.Facts().empty());
  const std::vector<job::DataFacts> said = Said();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].path, folder_);
  EXPECT_EQ(said[0].vocabulary, 257u);
  EXPECT_EQ(said[0].training_tokens, 1000u);
  EXPECT_EQ(said[0].manifest_sha256.size(), 64u);
  EXPECT_EQ(said[0].error, "");
  EXPECT_EQ(changes_, 1);
}

TEST_F(DataLooksTest, AFolderThatIsNotThereIsAnErrorWithItsName) {
  looks_.OnPaths({"/nowhere/at/all"});
  const std::vector<job::DataFacts> said = Said();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].error.find("/nowhere/at/all/manifest.json"),
            std::string::npos)
      << said[0].error;
}

TEST_F(DataLooksTest, WhereCheckpointsCannotBeSavedIsSaid) {
  // A folder that is not there yet would be made in the nearest one that is.
  looks_.OnPaths({folder_ + "/a/b", folder_ + "/manifest.json/a"});
  const std::vector<job::DataFacts> said = Said();
  ASSERT_EQ(said.size(), 2u);
  std::map<std::string, std::string> found;
  for (const job::DataFacts& facts : said) {
    found[facts.path] = facts.save_error;
  }
  EXPECT_EQ(found[folder_ + "/a/b"], "");
  EXPECT_EQ(found[folder_ + "/manifest.json/a"],
            folder_ + "/manifest.json is not a folder");
}

TEST_F(DataLooksTest, WhoseCheckpointsAFolderHasIsSaidOnceOneIsFinished) {
  const std::string saved = folder_ + "/saved";
  runtime::PosixFiles files;
  runtime::DirectoryBlobStore store(saved, files);
  checkpoint::CheckpointWriter writer = Begin(store, "bible");
  looks_.OnPaths({saved});
  EXPECT_EQ(Said().at(0).save_error, "");
  ASSERT_TRUE(writer.Seal().ok());
  loop_.Advance(absl::Seconds(2));
  EXPECT_EQ(Said().at(0).save_error,
            saved +
                " has checkpoints of job bible (number 7); give each job a "
                "folder of its own");
}

// The text goes to other machines and terminals.
TEST_F(DataLooksTest, AnOwnerWhoseNameNoJobCanHaveIsNotSaid) {
  const std::string saved = folder_ + "/saved";
  runtime::PosixFiles files;
  runtime::DirectoryBlobStore store(saved, files);
  ASSERT_TRUE(Begin(store, "bible\x1b[2J").Seal().ok());
  looks_.OnPaths({saved});
  EXPECT_EQ(Said().at(0).save_error, "");
}

// Whether it can be written is found out when the job is there.
TEST_F(DataLooksTest, APlaceInAnObjectStoreIsNotLookedForOnDisk) {
  looks_.OnPaths({"s3://models/runs"});
  loop_.RunUntilIdle();
  ASSERT_EQ(looks_.Facts().size(), 1u);
  EXPECT_EQ(looks_.Facts()[0].save_error, "");
  EXPECT_NE(looks_.Facts()[0].error, "");
}

TEST_F(DataLooksTest, WhatIsPutRightIsSeenSoonAndToldOnce) {
  looks_.OnPaths({folder_});
  EXPECT_EQ(Said().at(0).error, "");
  std::ofstream(folder_ + "/manifest.json") << "{}";
  loop_.Advance(absl::Seconds(2));
  EXPECT_NE(Said().at(0).error, "");
  EXPECT_EQ(changes_, 2);
  loop_.Advance(absl::Seconds(10));
  EXPECT_EQ(changes_, 2);
  looks_.OnPaths({});
  EXPECT_EQ(Said().size(), 0u);
  loop_.Advance(absl::Seconds(2));
  EXPECT_FALSE(loop_.NextTimer().has_value());
}

}  // namespace
}  // namespace skerry::worker
