#include "checkpoint/folder_owner.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "gtest/gtest.h"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::checkpoint {
namespace {

class FolderOwnerTest : public testing::Test {
 protected:
  // A finished checkpoint without files.
  void Write(const std::string& job, uint64_t job_id, uint64_t sequence) {
    runtime::MemoryFiles aside;
    runtime::DirectoryBlobStore blobs("/store", aside);
    auto writer = CheckpointStore(blobs).Begin({.job = job,
                                                .job_id = job_id,
                                                .sequence = sequence,
                                                .samples = 0,
                                                .files = {}});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Seal().ok());
    const std::string path = ManifestPath(sequence);
    Put(path, *aside.Read(path));
  }
  void Put(const std::string& path, const std::vector<std::byte>& bytes) {
    const std::string folder = path.substr(0, path.rfind('/'));
    ASSERT_TRUE(files_.MakeDirectory(folder).ok());
    ASSERT_TRUE(files_.WriteDurably(path, bytes).ok());
  }
  static std::string ManifestPath(uint64_t sequence) {
    return "/store/" + CheckpointName(sequence) + "/" +
           std::string(kManifestFile);
  }
  std::optional<FolderOwner> Find() {
    return FindFolderOwner("/store", files_);
  }

  runtime::MemoryFiles files_;
};

TEST_F(FolderOwnerTest, TheNewestFinishedCheckpointNamesTheJob) {
  EXPECT_EQ(Find(), std::nullopt);
  Write("psalms", 3, 9);
  EXPECT_EQ(Find(), (FolderOwner{"psalms", 3}));
  // Numbers are compared, not letters.
  Write("bible", 7, 10);
  EXPECT_EQ(Find(), (FolderOwner{"bible", 7}));
}

TEST_F(FolderOwnerTest, WhatIsNoFinishedCheckpointNamesNobody) {
  const std::vector<std::byte> text(1, std::byte{'x'});
  Put("/store/text/manifest.json", text);
  Put("/store/checkpoint-8/model.safetensors", text);
  EXPECT_EQ(Find(), std::nullopt);
  Write("bible", 7, 5);
  Put(ManifestPath(6), text);
  EXPECT_EQ(Find(), (FolderOwner{"bible", 7}));
}

}  // namespace
}  // namespace skerry::checkpoint
