#include "cli/commands/data_push.h"

#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>

#include "base/sha256.h"
#include "data/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string HashOf(const std::string& text) {
  return Sha256Hex(std::as_bytes(std::span(text)));
}

class DataPushTest : public testing::Test {
 protected:
  DataPushTest() : folder_(testing::TempDir() + "/data_push_test") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    data::Manifest manifest;
    manifest.tokenizer = "tokenizer.json";
    manifest.tokenizer_sha256 = HashOf("words");
    manifest.vocab_size = 300;
    manifest.shards = {{"train_0", 4, HashOf("one"), data::Split::kTrain},
                       {"train_1", 4, HashOf("two"), data::Split::kTrain}};
    Write("tokenizer.json", "words");
    Write("train_0", "one");
    Write("train_1", "two");
    Write("prepare.json", "{}");
    Write("manifest.json", data::SerializeManifest(manifest));
  }
  ~DataPushTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  absl::Status Push() {
    out_.str("");
    return DataPush(folder_, "s3://b/p", store_, out_);
  }

  const std::string folder_;
  runtime::MemoryFiles files_;
  runtime::DirectoryBlobStore store_{"/store", files_};
  std::ostringstream out_;
};

TEST_F(DataPushTest, WhatTheManifestNamesIsCopiedOnce) {
  ASSERT_TRUE(Push().ok());
  EXPECT_THAT(out_.str(), HasSubstr("s3://b/p: 4 files"));
  EXPECT_THAT(*store_.List(""), ElementsAre("manifest.json", "tokenizer.json",
                                            "train_0", "train_1"));
  EXPECT_EQ(store_.Get("train_1")->size(), 3u);
  const uint64_t changes = files_.changes();
  ASSERT_TRUE(Push().ok());
  EXPECT_EQ(out_.str(), "s3://b/p has this data set already\n");
  EXPECT_EQ(files_.changes(), changes);
}

TEST_F(DataPushTest, TheManifestComesLastAndOnlyWhenAllIsThere) {
  Write("train_1", "tWo");
  const absl::Status pushed = Push();
  EXPECT_TRUE(absl::IsDataLoss(pushed));
  EXPECT_THAT(std::string(pushed.message()), HasSubstr("train_1"));
  EXPECT_TRUE(absl::IsNotFound(store_.Get("manifest.json").status()));
  Write("train_1", "two");
  ASSERT_TRUE(Push().ok());
}

TEST_F(DataPushTest, AnotherDataSetIsNotReplaced) {
  const std::string other = "other";
  ASSERT_TRUE(
      store_.Put("manifest.json", std::as_bytes(std::span(other))).ok());
  EXPECT_EQ(Push().message(),
            "s3://b/p has another data set; name another prefix");
  EXPECT_THAT(*store_.List(""), ElementsAre("manifest.json"));
}

TEST_F(DataPushTest, AFolderWithoutAManifestIsNamed) {
  std::filesystem::remove(folder_ + "/manifest.json");
  EXPECT_THAT(std::string(Push().message()), HasSubstr("/manifest.json"));
  Write("manifest.json", "{}");
  EXPECT_THAT(std::string(Push().message()), HasSubstr("format is not"));
  EXPECT_THAT(*store_.List(""), IsEmpty());
}

}  // namespace
}  // namespace skerry::cli
