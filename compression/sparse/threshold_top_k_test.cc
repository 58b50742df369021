#include "compression/sparse/threshold_top_k.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/testing/codec_inputs.h"
#include "compression/testing/reference_sparse.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

std::unique_ptr<const Codec> Sidco(double density, CodecId inner) {
  return *MakeThresholdTopK({density, inner},
                            [](std::span<const float> values, size_t target) {
                              return SidcoThreshold(values, target, {});
                            });
}

std::unique_ptr<const Codec> Fixed(float threshold, double density) {
  return *MakeThresholdTopK({density, CodecId::kRawF32},
                            [threshold](std::span<const float>, size_t) {
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

TEST(ThresholdTopKTest, BytesAreThoseOfTheScalarTwin) {
  for (const CodecInput& input : CodecInputs(3)) {
    const size_t count = input.values.size();
    for (const CodecId inner : {CodecId::kRawF32, CodecId::kInt8Block}) {
      const auto codec = Sidco(0.05, inner);
      std::vector<std::byte> payload;
      ASSERT_TRUE(codec->Encode(input.values, payload).ok()) << input.name;
      ASSERT_LE(payload.size(), codec->MaxEncodedBytes(count));
      std::vector<size_t> places;
      const size_t kept = KeptElements(count, 0.05);
      if (kept > 0) {
        const Threshold threshold = SidcoThreshold(input.values, kept, {});
        for (size_t i = 0; i < count && places.size() < 2 * kept; ++i) {
          if (std::fabs(input.values[i]) >= threshold.value) {
            places.push_back(i);
          }
        }
      }
      EXPECT_EQ(payload, ReferenceEncodeIndexed(input.values, places, inner))
          << input.name;
      std::vector<float> decoded(count);
      ASSERT_TRUE(codec->Decode(payload, decoded).ok());
      EXPECT_EQ(decoded, ReferenceSparse(input.values, places, inner));
    }
  }
}

TEST(ThresholdTopKTest, NotANumberAndCorruptPayloadsAreRefused) {
  const auto codec = Sidco(0.1, CodecId::kRawF32);
  std::vector<float> values(1000, 0.25f);
  std::vector<std::byte> payload;
  values[999] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(absl::IsInvalidArgument(codec->Encode(values, payload)));
  values[999] = 2.0f;
  ASSERT_TRUE(codec->Encode(values, payload).ok());
  std::vector<float> decoded(1000);
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    auto changed = payload;
    changed[random.Below(changed.size())] =
        static_cast<std::byte>(random.Below(256));
    if (!codec->Decode(changed, decoded).ok()) continue;
    for (const float value : decoded) ASSERT_TRUE(std::isfinite(value));
  }
  payload.pop_back();
  EXPECT_TRUE(absl::IsDataLoss(codec->Decode(payload, decoded)));
  // A count above twice the target, with the bytes to go with it.
  std::vector<std::byte> many(4 + 201 + 201 * 4);
  many[0] = std::byte{201};
  EXPECT_TRUE(absl::IsDataLoss(codec->Decode(many, decoded)));
}

}  // namespace
}  // namespace skerry::compression
