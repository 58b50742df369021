#include "data/megatron_index.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;

template <typename T>
void Put(std::string& file, T value) {
  file.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

struct Index {
  uint64_t version = 1;
  uint8_t type = 8;
  std::vector<int32_t> lengths = {3, 0, 4};
  std::vector<int64_t> places = {0, 6, 6};
  std::vector<int64_t> documents = {0, 1, 3};
  std::string modes = {};
};

std::string FileOf(const Index& index) {
  std::string file("MMIDIDX\x00\x00", 9);
  Put(file, index.version);
  Put(file, index.type);
  Put(file, uint64_t{index.lengths.size()});
  Put(file, uint64_t{index.documents.size()});
  for (const int32_t length : index.lengths) Put(file, length);
  for (const int64_t place : index.places) Put(file, place);
  for (const int64_t document : index.documents) Put(file, document);
  return file + index.modes;
}

absl::StatusOr<MegatronIndex> Parsed(const Index& index) {
  const std::string file = FileOf(index);
  return ParseMegatronIndex(std::as_bytes(std::span(file)));
}

std::string Refusal(const Index& index) {
  EXPECT_TRUE(absl::IsInvalidArgument(Parsed(index).status()));
  return std::string(Parsed(index).status().message());
}

TEST(MegatronIndexTest, SequencesAddUpToTheTokens) {
  const auto index = Parsed({});
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->type, ItemType::kU16);
  EXPECT_EQ(index->sequences, 3u);
  EXPECT_EQ(index->tokens, 7u);
  EXPECT_TRUE(Parsed({.modes = "abc"}).ok());
  EXPECT_TRUE(Parsed({.type = 4, .places = {0, 12, 12}}).ok());
}

TEST(MegatronIndexTest, TheTokensHaveToBeThoseOfTheIndex) {
  const MegatronIndex index = Parsed({}).value();
  const std::vector<std::byte> bin(14);
  const auto tokens = MegatronTokens(index, bin);
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(tokens->size(), 7u);
  EXPECT_THAT(
      std::string(
          MegatronTokens(index, std::span(bin).first(12)).status().message()),
      HasSubstr("asks for 14 bytes"));
}

TEST(MegatronIndexTest, WhatIsNoIndexIsRefusedInOneLine) {
  EXPECT_FALSE(ParseMegatronIndex({}).ok());
  EXPECT_THAT(Refusal({.version = 2}), HasSubstr("version 2"));
  EXPECT_THAT(Refusal({.type = 7}), HasSubstr("type 7"));
  EXPECT_THAT(Refusal({.lengths = {3, 0, 4, 1}}), HasSubstr("cut short"));
  EXPECT_THAT(Refusal({.places = {0, 6, 8}}),
              HasSubstr("sequence 2 of 4 tokens lies at byte 8"));
  EXPECT_THAT(Refusal({.lengths = {3, -1, 4}}), HasSubstr("sequence 1"));
  std::string huge = FileOf({});
  huge.replace(18, 8, 8, '\x7f');
  EXPECT_THAT(std::string(ParseMegatronIndex(std::as_bytes(std::span(huge)))
                              .status()
                              .message()),
              HasSubstr("impossible"));
}

}  // namespace
}  // namespace skerry::data
