#include "data/token_array.h"

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Item>
std::vector<int32_t> ThroughItems(ItemType type) {
  const std::vector<Item> items = {5, 0, 100, 7};
  const TokenArray array = {std::as_bytes(std::span(items)), type};
  EXPECT_EQ(array.size(), 4u);
  std::vector<int32_t> tokens = {1};
  EXPECT_TRUE(AppendTokens(array, 1, 3, 101, tokens).ok());
  return tokens;
}

TEST(TokenArrayTest, EverySizeIsRead) {
  EXPECT_THAT(ThroughItems<uint8_t>(ItemType::kU8), ElementsAre(1, 0, 100, 7));
  EXPECT_THAT(ThroughItems<int8_t>(ItemType::kI8), ElementsAre(1, 0, 100, 7));
  EXPECT_THAT(ThroughItems<uint16_t>(ItemType::kU16),
              ElementsAre(1, 0, 100, 7));
  EXPECT_THAT(ThroughItems<int16_t>(ItemType::kI16), ElementsAre(1, 0, 100, 7));
  EXPECT_THAT(ThroughItems<uint32_t>(ItemType::kU32),
              ElementsAre(1, 0, 100, 7));
  EXPECT_THAT(ThroughItems<int32_t>(ItemType::kI32), ElementsAre(1, 0, 100, 7));
  EXPECT_THAT(ThroughItems<uint64_t>(ItemType::kU64),
              ElementsAre(1, 0, 100, 7));
  EXPECT_THAT(ThroughItems<int64_t>(ItemType::kI64), ElementsAre(1, 0, 100, 7));
}

TEST(TokenArrayTest, WhatIsNoTokenIsNamedAndNothingIsAppended) {
  const std::vector<int32_t> items = {1, 2, -1, 4};
  const TokenArray array = {std::as_bytes(std::span(items)), ItemType::kI32};
  std::vector<int32_t> tokens = {9};
  EXPECT_THAT(std::string(AppendTokens(array, 1, 3, 10, tokens).message()),
              HasSubstr("token 2 is -1, not below the vocabulary's 10"));
  EXPECT_THAT(tokens, ElementsAre(9));
  const std::vector<uint64_t> large = {uint64_t{1} << 32};
  EXPECT_FALSE(AppendTokens({std::as_bytes(std::span(large)), ItemType::kU64},
                            0, 1, 10, tokens)
                   .ok());
}

}  // namespace
}  // namespace skerry::data
