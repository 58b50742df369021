#include "compression/dense/cpu/sign1.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "base/random.h"
#include "compression/dense/cpu/rms.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using cpu::Sign1;
using cpu::Sign1Whole;

TEST(Sign1Test, TheFirstValueIsTheHighestBitAndZeroIsPositive) {
  const std::vector<float> values = {-1, 1, 1, -1, 0, -1, -1, -1, 1};
  std::vector<std::byte> payload(Sign1::Bytes(values.size()));
  ASSERT_EQ(payload.size(), 6u);
  ASSERT_TRUE(Sign1::Encode(values, payload.data()));
  EXPECT_EQ(payload[4], std::byte{0b01101000});
  EXPECT_EQ(payload[5], std::byte{0b10000000});
}

// One after the other, as the codec does.
void EncodeWhole(std::span<const float> values, std::byte* payload) {
  std::vector<double> sums(Sign1Whole::Blocks(values.size()));
  ASSERT_TRUE(
      Sign1Whole::EncodeBlocks(values, 0, values.size(), payload, sums.data()));
  Sign1Whole::WriteScale(sums, values.size(), payload);
}

TEST(Sign1Test, BlocksHaveTheirOwnScaleAndTheWholeHasOne) {
  std::vector<float> values(512, 3.0f);
  for (size_t i = 256; i < 512; ++i) values[i] = -4.0f;
  std::vector<float> decoded(512);
  std::vector<std::byte> payload(Sign1::Bytes(512));
  ASSERT_TRUE(Sign1::Encode(values, payload.data()));
  ASSERT_TRUE(Sign1::Decode(payload.data(), decoded));
  EXPECT_EQ(decoded, values);
  payload.resize(Sign1Whole::Bytes(512));
  EncodeWhole(values, payload.data());
  ASSERT_TRUE(Sign1Whole::DecodeBlocks(payload.data(), 0, 512, decoded));
  EXPECT_NEAR(decoded[0], std::sqrt(12.5), 1e-6);
  EXPECT_EQ(decoded[511], -decoded[0]);
}

// As the codec's page says.
double SumOfSquares(std::span<const float> block) {
  double sums[16] = {};
  for (size_t i = 0; i < block.size(); ++i) {
    sums[i % 16] += static_cast<double>(block[i]) * block[i];
  }
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

TEST(Sign1Test, BitsAndTheOrderOfSumsAreTheSameAtEveryVectorLength) {
  constexpr size_t kBlocks = 5;
  constexpr size_t kCount = 4 * 256 + 77;
  Random random(3);
  std::vector<float> values(kCount);
  for (float& value : values) {
    const int exponent = static_cast<int>(random.Below(40)) - 20;
    value = static_cast<float>(std::ldexp(random.Uniform() - 0.5, exponent));
  }
  values[5] = -0.0f;
  values[70] = 0.0f;
  std::vector<std::byte> bits(Sign1Whole::CodeBytes(kCount));
  std::vector<double> sums;
  for (size_t i = 0; i < kCount; ++i) {
    if (!std::signbit(values[i])) bits[i / 8] |= std::byte{0x80} >> i % 8;
    if (i % 256 == 0) {
      sums.push_back(
          SumOfSquares({&values[i], std::min<size_t>(256, kCount - i)}));
    }
  }
  cpu::OnEverySimdTarget([&] {
    std::vector<std::byte> payload(Sign1Whole::Bytes(kCount));
    std::vector<double> encoded(kBlocks);
    ASSERT_TRUE(Sign1Whole::EncodeBlocks(values, 0, kCount, payload.data(),
                                         encoded.data()));
    EXPECT_EQ(encoded, sums);
    payload.erase(payload.begin(), payload.begin() + sizeof(float));
    EXPECT_EQ(payload, bits);
  });
}

TEST(Sign1Test, AScaleOrATrailingBitThatNoEncoderWritesIsRefused) {
  const auto accepted = [](float scale, std::byte bits) {
    std::vector<std::byte> payload(Sign1::Bytes(3));
    std::memcpy(payload.data(), &scale, sizeof(scale));
    payload[4] = bits;
    std::vector<float> decoded(3);
    return Sign1::Decode(payload.data(), decoded) &&
           Sign1Whole::DecodeBlocks(payload.data(), 0, 3, decoded);
  };
  EXPECT_TRUE(accepted(0.0f, std::byte{0xe0}));
  EXPECT_TRUE(accepted(cpu::kRmsScaleMin, std::byte{0xe0}));
  EXPECT_TRUE(accepted(FLT_MAX, std::byte{0xe0}));
  EXPECT_FALSE(accepted(1.0f, std::byte{0x10}));
  EXPECT_FALSE(accepted(1.0f, std::byte{0x01}));
  EXPECT_FALSE(accepted(-0.0f, std::byte{0}));
  EXPECT_FALSE(accepted(-1.0f, std::byte{0}));
  EXPECT_FALSE(accepted(0x1p-81f, std::byte{0}));
  EXPECT_FALSE(accepted(std::numeric_limits<float>::infinity(), std::byte{0}));
  EXPECT_FALSE(accepted(std::numeric_limits<float>::quiet_NaN(), std::byte{0}));
}

// A constant input is where one bit with error feedback is exact on average,
// and where the root mean square is the better scale (it outgrows the mean).
TEST(Sign1Test, ErrorFeedbackRecoversWhatOneBitLoses) {
  std::vector<float> values(256);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i)) * 0.1f;
  }
  values[7] = 2.0f;
  const auto error_after = [&](bool feedback) {
    std::vector<float> owed(256, 0.0f), decoded(256);
    std::vector<double> sum(256, 0.0);
    std::vector<std::byte> payload(Sign1::Bytes(256));
    constexpr int kRounds = 1000;
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < 256; ++i) {
        owed[i] = values[i] + (feedback ? owed[i] : 0.0f);
      }
      EXPECT_TRUE(Sign1::Encode(owed, payload.data()));
      EXPECT_TRUE(Sign1::Decode(payload.data(), decoded));
      for (size_t i = 0; i < 256; ++i) {
        sum[i] += decoded[i];
        owed[i] -= decoded[i];
      }
    }
    double error = 0.0, size = 0.0;
    for (size_t i = 0; i < 256; ++i) {
      error += std::pow(sum[i] / kRounds - values[i], 2);
      size += std::pow(values[i], 2);
    }
    return std::sqrt(error / size);
  };
  EXPECT_LT(error_after(true), 0.05);
  EXPECT_GT(error_after(false), 0.5);
}

}  // namespace
}  // namespace skerry::compression
