#include "runtime/directory_blob_store.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/blob_store_kit.h"
#include "runtime/testing/memory_files.h"

namespace skerry::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DirectoryBlobStoreTest : public testing::Test {
 protected:
  absl::Status Put(const std::string& key, const std::string& text) {
    return store_.Put(key, BytesOf(text));
  }
  MemoryFiles files_;
  DirectoryBlobStore store_{"/blobs", files_};
};

TEST_F(DirectoryBlobStoreTest, WhatWasPutIsGot) { ExpectPutsAndGets(store_); }

TEST_F(DirectoryBlobStoreTest, ReadsInPieces) { ExpectReadsInPieces(store_); }

TEST_F(DirectoryBlobStoreTest, ListsFoldersWholeAndSorted) {
  ExpectListsFoldersWholeAndSorted(store_);
}

TEST_F(DirectoryBlobStoreTest, NoKeyLeavesTheDirectory) {
  ExpectRefusesMalformedKeys(store_);
  EXPECT_EQ(files_.changes(), 0u);
}

TEST_F(DirectoryBlobStoreTest, ADirectoryGoesWithItsLastBlob) {
  ASSERT_TRUE(Put("a/b/c", "x").ok());
  ASSERT_TRUE(Put("a/d", "x").ok());
  ASSERT_TRUE(store_.Delete("a/b/c").ok());
  EXPECT_THAT(*files_.ListDirectories("/blobs/a"), IsEmpty());
  EXPECT_THAT(*store_.List(""), ElementsAre("a/d"));
  ASSERT_TRUE(store_.Delete("a/d").ok());
  ASSERT_TRUE(store_.Delete("a/d").ok());
  EXPECT_THAT(*files_.ListDirectories("/blobs"), IsEmpty());
}

TEST_F(DirectoryBlobStoreTest, APutThatFailsKeepsTheOldBlobWhole) {
  ASSERT_TRUE(Put("a", "old").ok());
  files_.FailChangesAfter(0, absl::ResourceExhaustedError("disk full"));
  EXPECT_TRUE(absl::IsResourceExhausted(Put("a", "new")));
  files_.FailChangesAfter(0, absl::OkStatus());
  EXPECT_EQ(*store_.Get("a"), BytesOf("old"));
}

}  // namespace
}  // namespace skerry::runtime
