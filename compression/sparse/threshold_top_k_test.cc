#include "compression/sparse/threshold_top_k.h"

#include <vector>

#include "absl/status/status.h"
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
  EXPECT_EQ(payload.size(), 4u + 6u + 6u * 4u);
}

TEST(ThresholdTopKTest, ACountAboveTwiceTheTargetIsRefused) {
  const auto codec = Fixed(0.0f, 0.1);
  std::vector<float> decoded(1000);
  std::vector<std::byte> many(4 + 201 + 201 * 4);
  many[0] = std::byte{201};
  EXPECT_TRUE(absl::IsDataLoss(codec->Decode(many, decoded)));
  std::vector<std::byte> most(4 + 200 + 200 * 4);
  most[0] = std::byte{200};
  EXPECT_TRUE(codec->Decode(most, decoded).ok());
}

}  // namespace
}  // namespace skerry::compression
