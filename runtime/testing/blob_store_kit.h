// runtime/testing/blob_store_kit.h
//
// Tests what every BlobStore has to do, over an empty store.
#ifndef SKERRY_RUNTIME_TESTING_BLOB_STORE_KIT_H_
#define SKERRY_RUNTIME_TESTING_BLOB_STORE_KIT_H_

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/blob_store.h"

namespace skerry::runtime {

inline std::vector<std::byte> BytesOf(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline void ExpectPutsAndGets(BlobStore& store) {
  ASSERT_TRUE(store.Put("a/b/c.bin", BytesOf("one")).ok());
  ASSERT_TRUE(store.Put("a/b/c.bin", BytesOf("two")).ok());
  ASSERT_TRUE(store.Put("a/empty", {}).ok());
  EXPECT_EQ(*store.Get("a/b/c.bin"), BytesOf("two"));
  EXPECT_EQ(*store.Get("a/empty"), BytesOf(""));
  EXPECT_TRUE(absl::IsNotFound(store.Get("a/b/d.bin").status()));
  ASSERT_TRUE(store.Delete("a/b/c.bin").ok());
  ASSERT_TRUE(store.Delete("a/b/c.bin").ok());
  EXPECT_TRUE(absl::IsNotFound(store.Get("a/b/c.bin").status()));
  ASSERT_TRUE(store.RemoveLeftovers().ok());
  EXPECT_EQ(*store.Get("a/empty"), BytesOf(""));
}

inline void ExpectReadsInPieces(BlobStore& store) {
  const auto read = [&store](const char* key, std::string* all) {
    return store.Read(key, [all](ByteSpan piece) {
      all->append(reinterpret_cast<const char*>(piece.data()), piece.size());
      return absl::OkStatus();
    });
  };
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>('a' + i % 23);
  ASSERT_TRUE(store.Put("a/long", BytesOf(text)).ok());
  ASSERT_TRUE(store.Put("a/empty", {}).ok());
  std::string found;
  ASSERT_TRUE(read("a/long", &found).ok());
  EXPECT_EQ(found, text);
  ASSERT_TRUE(read("a/empty", &found).ok());
  EXPECT_EQ(found, text);
  EXPECT_TRUE(absl::IsNotFound(read("a/none", &found)));
  EXPECT_TRUE(absl::IsInvalidArgument(read("../a", &found)));
  const absl::Status full = store.Read("a/long", [](ByteSpan) {
    return absl::ResourceExhaustedError("the taker is full");
  });
  EXPECT_EQ(full.message(), "the taker is full");
}

inline void ExpectListsFoldersWholeAndSorted(BlobStore& store) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(*store.List(""), IsEmpty());
  for (const char* key : {"b", "a/z", "a/b/c", "ab/x"}) {
    ASSERT_TRUE(store.Put(key, BytesOf("x")).ok());
  }
  EXPECT_THAT(*store.List(""), ElementsAre("a/b/c", "a/z", "ab/x", "b"));
  EXPECT_THAT(*store.List("a"), ElementsAre("a/b/c", "a/z"));
  EXPECT_THAT(*store.List("none"), IsEmpty());
}

inline void ExpectRefusesMalformedKeys(BlobStore& store) {
  for (const char* key : {"", "/a", "a/", "a//b", "..", "a/../b", ".hidden",
                          "a b", "a\\b", "a\nb"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store.Put(key, BytesOf("x")))) << key;
    EXPECT_TRUE(absl::IsInvalidArgument(store.Get(key).status())) << key;
    EXPECT_TRUE(absl::IsInvalidArgument(store.Delete(key))) << key;
  }
}

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_TESTING_BLOB_STORE_KIT_H_
