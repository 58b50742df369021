#include "compression/dense/cpu/int8_block.h"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using cpu::Int8Block;

std::vector<std::byte> Encoded(const std::vector<float>& values) {
  std::vector<std::byte> payload(Int8Block::Bytes(values.size()));
  EXPECT_TRUE(Int8Block::Encode(values, payload.data()));
  return payload;
}

float ScaleOf(const std::vector<std::byte>& payload) {
  float scale;
  std::memcpy(&scale, payload.data(), sizeof(scale));
  return scale;
}

TEST(Int8BlockTest, TheLargestValueTakesTheLargestCode) {
  for (const float absmax : {0x1p-100f, 1e-20f, 0.3f, 7.0f, FLT_MAX}) {
    const auto payload = Encoded({-absmax, absmax / 127, 0.0f});
    const auto* codes = reinterpret_cast<const int8_t*>(payload.data() + 4);
    EXPECT_EQ(codes[0], -127);
    EXPECT_EQ(codes[1], 1);
    EXPECT_EQ(codes[2], 0);
    EXPECT_NEAR(ScaleOf(payload) / absmax, 1.0 / 127, 1e-8);
  }
}

TEST(Int8BlockTest, ABlockBelowTheThresholdIsZeroAndItsNeighbourIsNot) {
  std::vector<float> values(512, 0x1.fffffep-101f);
  values[300] = 1.0f;
  const auto payload = Encoded(values);
  EXPECT_EQ(ScaleOf(payload), 0.0f);
  std::vector<float> decoded(512);
  ASSERT_TRUE(Int8Block::Decode(payload.data(), decoded));
  for (int i = 0; i < 256; ++i) ASSERT_EQ(decoded[i], 0.0f);
  EXPECT_NEAR(decoded[300], 1.0f, 1e-6);
}

TEST(Int8BlockTest, BlocksThatAreEncodedTogetherAreAsTheyAreAlone) {
  constexpr size_t kBlock = Int8Block::kElements;
  constexpr size_t kBlocks = 7;
  Random random(9);
  std::vector<float> values(kBlocks * kBlock);
  for (size_t i = 0; i < values.size(); ++i) {
    // Zeros, what becomes zeros, and magnitudes up to the largest.
    constexpr int kExponents[kBlocks] = {0, 127, -120, -3, -149, 100, 4};
    values[i] = static_cast<float>(
        std::ldexp(1.99 * random.Uniform() - 0.995, kExponents[i / kBlock]));
  }
  cpu::OnEverySimdTarget([&] {
    const auto payload = Encoded(values);
    for (size_t b = 0; b < kBlocks; ++b) {
      const auto alone =
          Encoded({values.begin() + static_cast<ptrdiff_t>(b * kBlock),
                   values.begin() + static_cast<ptrdiff_t>((b + 1) * kBlock)});
      EXPECT_EQ(
          std::memcmp(&payload[b * sizeof(float)], alone.data(), sizeof(float)),
          0);
      EXPECT_EQ(std::memcmp(&payload[kBlocks * sizeof(float) + b * kBlock],
                            &alone[sizeof(float)], kBlock),
                0);
    }
    for (size_t b = 0; b < kBlocks; ++b) {
      std::vector<float> broken = values;
      broken[b * kBlock + 100] = std::numeric_limits<float>::quiet_NaN();
      std::vector<std::byte> out(Int8Block::Bytes(broken.size()));
      EXPECT_FALSE(Int8Block::Encode(broken, out.data()));
    }
  });
}

TEST(Int8BlockTest, AScaleThatNoEncoderWritesIsRefused) {
  const auto accepted = [](float scale) {
    auto payload = Encoded({1.0f, 2.0f});
    std::memcpy(payload.data(), &scale, sizeof(scale));
    std::vector<float> decoded(2);
    return Int8Block::Decode(payload.data(), decoded);
  };
  EXPECT_TRUE(accepted(0.0f));
  EXPECT_TRUE(accepted(Int8Block::kScaleMin));
  EXPECT_TRUE(accepted(Int8Block::kScaleMax));
  EXPECT_FALSE(accepted(std::nextafter(Int8Block::kScaleMin, 0.0f)));
  EXPECT_FALSE(accepted(std::nextafter(Int8Block::kScaleMax, FLT_MAX)));
  EXPECT_FALSE(accepted(-1.0f));
  EXPECT_FALSE(accepted(std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(accepted(std::numeric_limits<float>::quiet_NaN()));
}

TEST(Int8BlockTest, TheCodeWithoutANegativeIsRefusedAnywhere) {
  const size_t count = 300;
  const auto good = Encoded(std::vector<float>(count, 1.0f));
  std::vector<float> decoded(count);
  for (size_t i = 0; i < count; ++i) {
    auto payload = good;
    payload[Int8Block::Blocks(count) * sizeof(float) + i] = std::byte{0x80};
    ASSERT_FALSE(Int8Block::Decode(payload.data(), decoded)) << i;
    ASSERT_FALSE(Int8Block::DecodeAdd(payload.data(), decoded)) << i;
  }
}

}  // namespace
}  // namespace skerry::compression
