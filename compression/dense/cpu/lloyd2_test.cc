#include "compression/dense/cpu/lloyd2.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "base/random.h"
#include "compression/dense/cpu/rms.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using cpu::Lloyd2;

std::vector<std::byte> Encoded(std::span<const float> values) {
  std::vector<std::byte> payload(Lloyd2::Bytes(values.size()));
  EXPECT_TRUE(Lloyd2::Encode(values, payload.data()));
  return payload;
}

std::vector<float> Decoded(std::span<const std::byte> payload, size_t count) {
  std::vector<float> values(count);
  EXPECT_TRUE(Lloyd2::Decode(payload.data(), values));
  return values;
}

TEST(Lloyd2Test, FourLevelsAscendAndTheFirstCodeIsInTheLowestBits) {
  const std::vector<float> values = {
      -2 * cpu::kLloyd2Outer, -2 * cpu::kLloyd2Inner, 2 * cpu::kLloyd2Inner,
      2 * cpu::kLloyd2Outer};
  const std::vector<std::byte> payload = Encoded(values);
  ASSERT_EQ(payload.size(), 5u);
  EXPECT_EQ(payload[4], std::byte{0b11100100});
  EXPECT_EQ(Decoded(payload, 4), values);
}

// The levels of a normal distribution would decode one value among zeros to a
// block that errs by more than it has.
TEST(Lloyd2Test, NoBlockErrsByAsMuchAsItHas) {
  std::vector<float> values(256, 0.0f);
  values[100] = -8.0f;
  const std::vector<float> decoded = Decoded(Encoded(values), 256);
  double error = 0;
  for (size_t i = 0; i < 256; ++i) {
    error += std::pow(double{decoded[i]} - values[i], 2);
  }
  EXPECT_LT(error, 0.97 * 64);
}

TEST(Lloyd2Test, AZeroIsOfTheLevelOfItsSign) {
  const std::vector<float> decoded =
      Decoded(Encoded(std::vector<float>{0.0f, -0.0f, 1.0f, 1.0f}), 4);
  EXPECT_GT(decoded[0], 0.0f);
  EXPECT_EQ(decoded[1], -decoded[0]);
}

// J. Max gives a mean square error of 0.1175 for four levels and a normal
// distribution.
TEST(Lloyd2Test, OfNormalValuesItLosesWhatMaxGives) {
  Random random(7);
  std::vector<float> values(1 << 18);
  for (size_t i = 0; i < values.size(); i += 2) {
    const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
    const double angle = 2 * M_PI * random.Uniform();
    values[i] = static_cast<float>(radius * std::cos(angle));
    values[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  const std::vector<float> decoded = Decoded(Encoded(values), values.size());
  double error = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(double{decoded[i]} - values[i], 2);
  }
  EXPECT_NEAR(error / static_cast<double>(values.size()), 0.1175, 0.002);
}

TEST(Lloyd2Test, TheLargestValuesStayFinite) {
  const std::vector<float> decoded =
      Decoded(Encoded(std::vector<float>(300, FLT_MAX)), 300);
  for (const float value : decoded) {
    ASSERT_TRUE(std::isfinite(value));
    ASSERT_GT(value, FLT_MAX / 2);
  }
}

TEST(Lloyd2Test, AScaleOrATrailingBitThatNoEncoderWritesIsRefused) {
  const auto accepted = [](float scale, std::byte codes) {
    std::vector<std::byte> payload(Lloyd2::Bytes(3));
    std::memcpy(payload.data(), &scale, sizeof(scale));
    payload[4] = codes;
    std::vector<float> decoded(3);
    return Lloyd2::Decode(payload.data(), decoded);
  };
  EXPECT_TRUE(accepted(0.0f, std::byte{0x3f}));
  EXPECT_TRUE(accepted(cpu::kRmsScaleMin, std::byte{0x3f}));
  EXPECT_TRUE(accepted(cpu::kLloyd2ScaleMax, std::byte{0x3f}));
  EXPECT_FALSE(accepted(1.0f, std::byte{0x40}));
  EXPECT_FALSE(accepted(1.0f, std::byte{0x80}));
  EXPECT_FALSE(accepted(-0.0f, std::byte{0}));
  EXPECT_FALSE(accepted(-1.0f, std::byte{0}));
  EXPECT_FALSE(accepted(0x1p-81f, std::byte{0}));
  EXPECT_FALSE(accepted(FLT_MAX, std::byte{0}));
  EXPECT_FALSE(accepted(std::numeric_limits<float>::infinity(), std::byte{0}));
  EXPECT_FALSE(accepted(std::numeric_limits<float>::quiet_NaN(), std::byte{0}));
}

}  // namespace
}  // namespace skerry::compression
