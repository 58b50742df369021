#include "compression/cpu/block4.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using cpu::E3m0;
using cpu::E3m0F32;
using cpu::Nf4;
using cpu::Nf4F32;

template <typename Kernels>
std::vector<float> RoundTrip(const std::vector<float>& values) {
  std::vector<std::byte> payload(Kernels::Bytes(values.size()));
  EXPECT_TRUE(Kernels::Encode(values, payload.data()));
  std::vector<float> decoded(values.size());
  EXPECT_TRUE(Kernels::Decode(payload.data(), decoded));
  return decoded;
}

// Sums of 12 uniforms are close enough to normal for a mean over 2^16.
template <typename Kernels>
double RelativeMeanSquareOnNormal() {
  Random random(11);
  std::vector<float> values(1 << 16);
  for (float& value : values) {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += random.Uniform();
    value = static_cast<float>(sum);
  }
  const std::vector<float> decoded = RoundTrip<Kernels>(values);
  double error = 0.0, size = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(static_cast<double>(decoded[i]) - values[i], 2);
    size += std::pow(static_cast<double>(values[i]), 2);
  }
  return error / size;
}

// The figures measured for these codecs before they were written here.
TEST(Block4Test, ErrorOnNormalValuesIsThatOfTheLevels) {
  EXPECT_NEAR(RelativeMeanSquareOnNormal<Nf4F32>(), 0.0085, 0.0004);
  EXPECT_NEAR(RelativeMeanSquareOnNormal<Nf4>(), 0.0085, 0.0004);
  EXPECT_NEAR(RelativeMeanSquareOnNormal<E3m0F32>(), 0.035, 0.002);
  EXPECT_NEAR(RelativeMeanSquareOnNormal<E3m0>(), 0.035, 0.002);
}

TEST(Block4Test, PowersOfTwoSurviveE3m0) {
  const std::vector<float> values = {8,      -4,     2,       -1,  0.5f,
                                     -0.25f, 0.125f, -0.125f, 0.0f};
  EXPECT_EQ(RoundTrip<E3m0>(values), values);
  EXPECT_EQ(RoundTrip<E3m0F32>(values), values);
}

TEST(Block4Test, TiesGoToTheLowerLevel) {
  EXPECT_EQ(RoundTrip<E3m0F32>({1.0f, 0.75f, -0.75f, 0x1p-7f, 0x1.8p-6f}),
            (std::vector<float>{1.0f, 0.5f, -0.5f, 0.0f, 0x1p-6f}));
  EXPECT_EQ(RoundTrip<E3m0F32>({1.0f, 0x1.000002p-7f})[1], 0x1p-6f);
  const float middle = (0.7229568362236023f + 1.0f) * 0.5f;
  EXPECT_EQ(RoundTrip<Nf4F32>({1.0f, middle})[1], 0.7229568362236023f);
  EXPECT_EQ(RoundTrip<Nf4F32>({1.0f, std::nextafter(middle, 1.0f)})[1], 1.0f);
}

TEST(Block4Test, ABf16ScaleIsRoundedUp) {
  std::vector<float> values = {1.001f};
  std::vector<std::byte> payload(Nf4::Bytes(1));
  ASSERT_TRUE(Nf4::Encode(values, payload.data()));
  uint16_t scale;
  std::memcpy(&scale, payload.data(), sizeof(scale));
  EXPECT_EQ(scale, 0x3f81);
  EXPECT_TRUE(std::isfinite(RoundTrip<Nf4>({FLT_MAX, 1.0f})[0]));
}

template <typename Kernels>
bool Accepts(uint32_t scale, std::byte codes) {
  std::vector<std::byte> payload(Kernels::Bytes(1));
  std::memcpy(payload.data(), &scale, payload.size() - 1);
  payload.back() = codes;
  std::vector<float> decoded(1);
  return Kernels::Decode(payload.data(), decoded);
}

TEST(Block4Test, ScalesAndCodesThatNoEncoderWritesAreRefused) {
  EXPECT_TRUE(Accepts<Nf4F32>(0x0d800000, std::byte{3}));
  EXPECT_TRUE(Accepts<Nf4F32>(0, std::byte{7}));
  EXPECT_FALSE(Accepts<Nf4F32>(0x0d7fffff, std::byte{3}));
  EXPECT_FALSE(Accepts<Nf4F32>(0x80000000, std::byte{3}));
  EXPECT_FALSE(Accepts<Nf4F32>(0xbf800000, std::byte{3}));
  EXPECT_FALSE(Accepts<Nf4F32>(0x7f800000, std::byte{3}));
  EXPECT_FALSE(Accepts<Nf4F32>(0x3f800000, std::byte{0x13}));
  EXPECT_TRUE(Accepts<E3m0>(0x3f80, std::byte{7}));
  EXPECT_FALSE(Accepts<E3m0>(0x7f80, std::byte{7}));
  EXPECT_FALSE(Accepts<E3m0>(0x0d7f, std::byte{7}));
  EXPECT_FALSE(Accepts<E3m0>(0x3f80, std::byte{8}));
}

}  // namespace
}  // namespace skerry::compression
