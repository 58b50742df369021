#include "compression/sparse/threshold_top_k.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

std::unique_ptr<const Codec> Fixed(float threshold, double density) {
  return *MakeThresholdTopK(
      {density, CodecId::kRawF32},
      [threshold](std::span<const float>, size_t, Workspace&) {
        return Threshold{threshold, 0};
      });
}

TEST(ThresholdTopKTest, WhatReachesTheThresholdIsSentUpToTheCap) {
  const std::vector<float> values = {1, -3, 2, 0, -2, 4, 5, -0.0f};
  std::vector<std::byte> payload;
  std::vector<float> decoded(values.size());
  const auto codec = Fixed(2.0f, 0.5);  // at most 8
  ASSERT_TRUE(codec->Encode(values, payload).ok());
  ASSERT_TRUE(codec->Decode(payload, decoded).ok());
  EXPECT_EQ(decoded, (std::vector<float>{0, -3, 2, 0, -2, 4, 5, 0}));
  const auto few = Fixed(2.0f, 0.125);  // at most 2
  ASSERT_TRUE(few->Encode(values, payload).ok());
  ASSERT_TRUE(few->Decode(payload, decoded).ok());
  EXPECT_EQ(decoded, (std::vector<float>{0, -3, 2, 0, 0, 0, 0, 0}));
  // A threshold of 0 sends no zeros.
  const auto all = Fixed(0.0f, 1.0);
  ASSERT_TRUE(all->Encode(values, payload).ok());
  EXPECT_EQ(payload.size(), 4u + 1u + 6u * 4u);
}

TEST(ThresholdTopKTest, AGuessCountsWhereItIsGood) {
  std::vector<float> values(100);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i + 1);
  }
  const auto sent_with = [&](std::optional<float> guess) {
    const auto codec = *MakeThresholdTopK(
        {0.2, CodecId::kRawF32},
        [](std::span<const float>, size_t target, Workspace&) {
          EXPECT_EQ(target, 20u);
          return Threshold{81.0f, 20};
        },
        [guess](std::span<const float>, size_t, Workspace&) { return guess; });
    std::vector<std::byte> payload;
    EXPECT_TRUE(codec->Encode(values, payload).ok());
    return std::to_integer<size_t>(payload.front());
  };
  EXPECT_EQ(sent_with(std::nullopt), 20u);
  EXPECT_EQ(sent_with(91.0f), 10u);
  EXPECT_EQ(sent_with(92.0f), 20u);  // too few
  EXPECT_EQ(sent_with(61.0f), 40u);
  EXPECT_EQ(sent_with(60.0f), 20u);  // too many
  EXPECT_EQ(sent_with(std::nanf("")), 20u);
}

TEST(ThresholdTopKTest, NotFiniteIsRefusedWhateverTheGuessSees) {
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    for (const size_t at : {size_t{0}, size_t{50}, size_t{99}}) {
      for (const float guess : {1.0f, 50.0f, 3e38f}) {
        std::vector<float> values(100, 100.0f);
        values[at] = bad;
        const auto codec = *MakeThresholdTopK(
            {0.01, CodecId::kRawF32},
            [](std::span<const float>, size_t, Workspace&) {
              return Threshold{};
            },
            [guess](std::span<const float>, size_t, Workspace&) {
              return std::optional<float>(guess);
            });
        std::vector<std::byte> payload;
        const absl::Status said = codec->Encode(values, payload);
        EXPECT_TRUE(absl::IsInvalidArgument(said));
        EXPECT_TRUE(absl::StartsWith(said.message(),
                                     absl::StrCat("value ", at, " of 100 is")))
            << said;
      }
    }
  }
}

TEST(ThresholdTopKTest, ACountAboveTwiceTheTargetIsRefused) {
  const auto codec = Fixed(0.0f, 0.05);
  std::vector<float> decoded(1000);
  std::vector<std::byte> many(4 + 101 + 101 * 4);
  many[0] = std::byte{101};
  EXPECT_TRUE(absl::IsDataLoss(codec->Decode(many, decoded)));
  std::vector<std::byte> most(4 + 100 + 100 * 4);
  most[0] = std::byte{100};
  EXPECT_TRUE(codec->Decode(most, decoded).ok());
}

}  // namespace
}  // namespace skerry::compression
