// runtime/testing/files_conformance.h
//
// Tests what every Files must do. A driver has
//   Files& files();
//   std::string root();  // an existing, empty directory
#ifndef SKERRY_RUNTIME_TESTING_FILES_CONFORMANCE_H_
#define SKERRY_RUNTIME_TESTING_FILES_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/files.h"

namespace skerry::runtime {

template <typename Driver>
class FilesConformance : public testing::Test {
 protected:
  Files& files() { return driver_.files(); }
  std::string Path(const std::string& name) {
    return driver_.root() + "/" + name;
  }
  static std::vector<std::byte> Bytes(const std::string& text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
  }
  Driver driver_;
};

TYPED_TEST_SUITE_P(FilesConformance);

TYPED_TEST_P(FilesConformance, WhatWasWrittenIsReadBack) {
  const auto bytes = this->Bytes("anchor");
  ASSERT_TRUE(this->files().WriteDurably(this->Path("a"), bytes).ok());
  const auto read = this->files().Read(this->Path("a"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, bytes);
}

TYPED_TEST_P(FilesConformance, PiecesAreJoinedInOrder) {
  const auto a = this->Bytes("one");
  const auto b = this->Bytes("");
  const auto c = this->Bytes("two");
  const ByteSpan pieces[] = {a, b, c};
  ASSERT_TRUE(this->files().WriteDurably(this->Path("p"), pieces).ok());
  EXPECT_EQ(*this->files().Read(this->Path("p")), this->Bytes("onetwo"));
}

TYPED_TEST_P(FilesConformance, AWriteReplacesAllThatWasThere) {
  const auto longer = this->Bytes("a longer content");
  const auto shorter = this->Bytes("short");
  ASSERT_TRUE(this->files().WriteDurably(this->Path("a"), longer).ok());
  ASSERT_TRUE(this->files().WriteDurably(this->Path("a"), shorter).ok());
  EXPECT_EQ(*this->files().Read(this->Path("a")), shorter);
}

TYPED_TEST_P(FilesConformance, AnEmptyFileIsAFile) {
  ASSERT_TRUE(this->files().WriteDurably(this->Path("e"), ByteSpan()).ok());
  const auto read = this->files().Read(this->Path("e"));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->empty());
}

TYPED_TEST_P(FilesConformance, ListNamesFilesOnlyAndSorted) {
  ASSERT_TRUE(this->files().MakeDirectory(this->Path("directory")).ok());
  for (const char* name : {"b", "a", "c"}) {
    ASSERT_TRUE(
        this->files().WriteDurably(this->Path(name), this->Bytes("x")).ok());
  }
  ASSERT_TRUE(this->files()
                  .WriteDurably(this->Path("directory/inner"), ByteSpan())
                  .ok());
  const auto names = this->files().List(this->driver_.root());
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "b", "c"}));
}

TYPED_TEST_P(FilesConformance, ARenamedFileTakesAnothersPlace) {
  ASSERT_TRUE(
      this->files().WriteDurably(this->Path("a"), this->Bytes("one")).ok());
  ASSERT_TRUE(
      this->files().WriteDurably(this->Path("b"), this->Bytes("two")).ok());
  EXPECT_TRUE(this->files().Rename(this->Path("a"), this->Path("b")).ok());
  EXPECT_EQ(*this->files().List(this->driver_.root()),
            std::vector<std::string>{"b"});
  EXPECT_EQ(*this->files().Read(this->Path("b")), this->Bytes("one"));
}

TYPED_TEST_P(FilesConformance, RemovingTwiceIsRemoving) {
  ASSERT_TRUE(this->files().WriteDurably(this->Path("a"), ByteSpan()).ok());
  EXPECT_TRUE(this->files().Remove(this->Path("a")).ok());
  EXPECT_TRUE(this->files().Remove(this->Path("a")).ok());
  EXPECT_EQ(this->files().Read(this->Path("a")).status().code(),
            absl::StatusCode::kNotFound);
}

TYPED_TEST_P(FilesConformance, MakeDirectoryMakesParentsAndMayBeRepeated) {
  const std::string deep = this->Path("x/y/z");
  EXPECT_TRUE(this->files().MakeDirectory(deep).ok());
  EXPECT_TRUE(this->files().MakeDirectory(deep).ok());
  EXPECT_TRUE(this->files().WriteDurably(deep + "/f", ByteSpan()).ok());
  EXPECT_TRUE(this->files().List(deep).ok());
}

TYPED_TEST_P(FilesConformance, ListDirectoriesNamesDirectoriesOnlyAndSorted) {
  for (const char* name : {"b", "a/inner"}) {
    ASSERT_TRUE(this->files().MakeDirectory(this->Path(name)).ok());
  }
  ASSERT_TRUE(this->files().WriteDurably(this->Path("c"), ByteSpan()).ok());
  const auto names = this->files().ListDirectories(this->driver_.root());
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "b"}));
}

TYPED_TEST_P(FilesConformance, OnlyAnEmptyDirectoryIsRemoved) {
  const std::string directory = this->Path("d");
  ASSERT_TRUE(this->files().MakeDirectory(directory + "/inner").ok());
  ASSERT_TRUE(this->files().WriteDurably(directory + "/f", ByteSpan()).ok());
  const auto remove = [&] { return this->files().RemoveDirectory(directory); };
  EXPECT_EQ(remove().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(this->files().Remove(directory + "/f").ok());
  EXPECT_EQ(remove().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(this->files().RemoveDirectory(directory + "/inner").ok());
  EXPECT_TRUE(remove().ok());
  EXPECT_EQ(this->files().List(directory).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_TRUE(remove().ok());
}

TYPED_TEST_P(FilesConformance, ErrorsNameThePathAndSayNotFound) {
  const std::string path = this->Path("no/such");
  for (const absl::Status& status :
       {this->files().Read(path).status(), this->files().List(path).status(),
        this->files().ListDirectories(path).status(),
        this->files().WriteDurably(path, ByteSpan()),
        this->files().Rename(path, this->Path("other"))}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
    EXPECT_NE(status.message().find(path), absl::string_view::npos) << status;
  }
}

REGISTER_TYPED_TEST_SUITE_P(
    FilesConformance, WhatWasWrittenIsReadBack, PiecesAreJoinedInOrder,
    AWriteReplacesAllThatWasThere, AnEmptyFileIsAFile,
    ListNamesFilesOnlyAndSorted, ARenamedFileTakesAnothersPlace,
    RemovingTwiceIsRemoving, MakeDirectoryMakesParentsAndMayBeRepeated,
    ListDirectoriesNamesDirectoriesOnlyAndSorted, OnlyAnEmptyDirectoryIsRemoved,
    ErrorsNameThePathAndSayNotFound);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_TESTING_FILES_CONFORMANCE_H_
