#include "runtime/directory_blob_store.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::byte> Bytes(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

class DirectoryBlobStoreTest : public testing::Test {
 protected:
  absl::Status Put(const std::string& key, const std::string& text) {
    return store_.Put(key, Bytes(text));
  }
  MemoryFiles files_;
  DirectoryBlobStore store_{"/blobs", files_};
};

TEST_F(DirectoryBlobStoreTest, WhatWasPutIsGot) {
  ASSERT_TRUE(Put("a/b/c.bin", "one").ok());
  ASSERT_TRUE(Put("a/b/c.bin", "two").ok());
  EXPECT_EQ(*store_.Get("a/b/c.bin"), Bytes("two"));
  EXPECT_TRUE(absl::IsNotFound(store_.Get("a/b/d.bin").status()));
}

TEST_F(DirectoryBlobStoreTest, ListsFoldersWholeAndSorted) {
  EXPECT_THAT(*store_.List(""), IsEmpty());
  for (const char* key : {"b", "a/z", "a/b/c", "ab/x"}) {
    ASSERT_TRUE(Put(key, "x").ok());
  }
  EXPECT_THAT(*store_.List(""), ElementsAre("a/b/c", "a/z", "ab/x", "b"));
  EXPECT_THAT(*store_.List("a"), ElementsAre("a/b/c", "a/z"));
  EXPECT_THAT(*store_.List("none"), IsEmpty());
}

TEST_F(DirectoryBlobStoreTest, NoKeyLeavesTheDirectory) {
  for (const char* key : {"", "/a", "a/", "a//b", "..", "a/../b", ".hidden",
                          "a b", "a\\b", "a\nb"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Put(key, "x"))) << key;
    EXPECT_TRUE(absl::IsInvalidArgument(store_.Get(key).status())) << key;
    EXPECT_TRUE(absl::IsInvalidArgument(store_.Delete(key))) << key;
  }
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
  EXPECT_EQ(*store_.Get("a"), Bytes("old"));
}

}  // namespace
}  // namespace skerry::runtime
