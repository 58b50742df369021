#include "data/prepare/prepare_record.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;

PrepareRecord Record() {
  return {.inputs = {{"/in/a.txt", 12, std::string(64, 'a')}},
          .json_key = "text",
          .tokenizer_sha256 = std::string(64, 'b'),
          .document_end = "<e>",
          .validation_fraction = 0.05,
          .shard_tokens = 100,
          .found = PrepareRecord::Found{.validation = {{0, 9}, 4, 30},
                                        .training_bytes = 100,
                                        .validation_bytes = 5,
                                        .documents = 3,
                                        .empty_documents = 1,
                                        .skipped_lines = 2},
          .shards = {{.entry = {"train_000000.bin", 100, std::string(64, 'c'),
                                Split::kTrain},
                      .place = {0, 7},
                      .tokens = 5,
                      .special_tokens = 2},
                     {.entry = {"validation_000000.bin", 3,
                                std::string(64, 'd'), Split::kValidation},
                      .place = {0, 9},
                      .tokens = 3,
                      .special_tokens = std::nullopt}}};
}

absl::Status Same(const PrepareRecord& found, const PrepareRecord& wanted) {
  return SameDataSet(found, wanted, /*splits_as_before=*/false);
}

TEST(PrepareRecordTest, WhatIsWrittenIsRead) {
  const auto read = ParsePrepareRecord(SerializePrepareRecord(Record()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Record());
}

TEST(PrepareRecordTest, WhatIsNoRecordIsRefused) {
  const std::string good = SerializePrepareRecord(Record());
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"skerry.prepare/1", "skerry.prepare/2"},
      {"\"bytes\": 12", "\"bytes\": -12"},
      {"\"byte\": 7", "\"byte\": \"7\""},
      {"\"next\"", "\"last\""},
      {"\"shards\": [", "\"shards\": 3, \"x\": ["},
      {"\"validation\": 0.05", "\"validation\": null"},
  };
  for (const auto& [from, to] : changes) {
    std::string text = good;
    const size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    text.replace(at, from.size(), to);
    EXPECT_TRUE(absl::IsInvalidArgument(ParsePrepareRecord(text).status()))
        << to;
  }
  for (const char* text : {"", "[]", "{", "3"}) {
    EXPECT_FALSE(ParsePrepareRecord(text).ok()) << text;
  }
}

TEST(PrepareRecordTest, ShardsMakeNoOtherDataSet) {
  PrepareRecord other = Record();
  other.shards.clear();
  EXPECT_TRUE(Same(Record(), other).ok());
  other.document_end = "";
  EXPECT_THAT(std::string(Same(Record(), other).message()),
              HasSubstr("--document-end '<e>', not none"));
  other = Record();
  other.json_key = "body";
  EXPECT_THAT(std::string(Same(Record(), other).message()),
              HasSubstr("--json-key 'text', not 'body'"));
  other = Record();
  other.inputs[0].path = "/in/b.txt";
  EXPECT_TRUE(Same(Record(), other).ok());
  other.inputs[0].bytes = 13;
  EXPECT_THAT(std::string(Same(Record(), other).message()),
              HasSubstr("begun with /in/a.txt, not /in/b.txt"));
}

// Such a one says nothing of where validation begins.
TEST(PrepareRecordTest,
     ARecordOfAnOlderReleaseIsGoneOnWithIfTheSplitIsTheSame) {
  PrepareRecord older = Record();
  older.found.reset();
  EXPECT_EQ(ParsePrepareRecord(SerializePrepareRecord(older)).value(), older);
  EXPECT_TRUE(SameDataSet(older, Record(), /*splits_as_before=*/true).ok());
  EXPECT_THAT(
      std::string(
          SameDataSet(older, Record(), /*splits_as_before=*/false).message()),
      HasSubstr("begun by another release, which splits these inputs"));
}

}  // namespace
}  // namespace skerry::data
