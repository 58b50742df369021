#include "compression/dense/cpu/block4.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/dense/cpu/levels4.h"
#include "compression/testing/every_simd_target.h"
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

// By brute force: of NF4 the nearest level to y, the lower of two; of E3M0 the
// nearest power of two, the smaller of two, and zero up to 2^-7.
int NearestNf4(float y) {
  int code = 0;
  for (int i = 0; i < 15; ++i) {
    const float middle =
        (cpu::kNf4Levels.values[i] + cpu::kNf4Levels.values[i + 1]) * 0.5f;
    if (y > middle) code = i + 1;
  }
  return code;
}
int NearestE3m0(float y) {
  const double size = std::abs(static_cast<double>(y));
  if (size <= 0x1p-7) return 0;
  int code = 1;
  while (code < 7 && size > 1.5 * std::ldexp(1.0, code - 7)) ++code;
  return y < 0 ? code + 8 : code;
}

// Whatever decides between two levels, both zeros, and the patterns next to
// these; then drawn ones.
std::vector<float> Deciding() {
  std::vector<float> about = {0.0f, -0.0f, 1.0f, -1.0f, FLT_MIN, -FLT_MIN};
  for (int i = 0; i < 15; ++i) {
    about.push_back(
        (cpu::kNf4Levels.values[i] + cpu::kNf4Levels.values[i + 1]) * 0.5f);
  }
  for (int e = -9; e <= -1; ++e) {
    for (const float size : {std::ldexp(1.0f, e), std::ldexp(1.5f, e)}) {
      about.insert(about.end(), {size, -size});
    }
  }
  std::vector<float> values;
  for (const float x : about) {
    for (const float y :
         {std::nextafter(x, -1.0f), x, std::nextafter(x, 1.0f)}) {
      values.push_back(y);
    }
  }
  Random random(12);
  while (values.size() < 4000) {
    values.push_back(static_cast<float>(2.0 * random.Uniform() - 1.0));
  }
  return values;
}

template <typename Kernels>
void ExpectCodes(int (*nearest)(float)) {
  std::vector<float> values;
  // A block's first value is 1, so that its scale is.
  for (const float value : Deciding()) {
    if (values.size() % Kernels::kElements == 0) values.push_back(1.0f);
    values.push_back(value);
  }
  std::vector<std::byte> payload(Kernels::Bytes(values.size()));
  ASSERT_TRUE(Kernels::Encode(values, payload.data()));
  const std::byte* codes = payload.data() + Kernels::ScaleBytes(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto both = std::to_integer<int>(codes[i / 2]);
    ASSERT_EQ(i % 2 == 0 ? both & 15 : both >> 4, nearest(values[i]))
        << values[i];
  }
}

TEST(Block4Test, CodesAreThoseOfTheNearestLevels) {
  cpu::OnEverySimdTarget([] {
    ExpectCodes<Nf4>(NearestNf4);
    ExpectCodes<E3m0F32>(NearestE3m0);
  });
}

// Blocks of all sizes of scale, some of zeros.
std::vector<float> MixedBlocks(uint64_t seed, size_t blocks) {
  Random random(seed);
  std::vector<float> values;
  for (size_t b = 0; b < blocks; ++b) {
    const auto kind = random.Below(8);
    const int exponent = kind == 0   ? 126
                         : kind == 1 ? -120
                                     : static_cast<int>(random.Below(40)) - 20;
    for (size_t i = 0; i < Nf4::kElements; ++i) {
      const double part = kind == 2 ? 0.0 : 2.0 * random.Uniform() - 1.0;
      values.push_back(static_cast<float>(std::ldexp(part, exponent)));
    }
  }
  return values;
}

template <typename Kernels>
void ExpectAsAlone(const std::vector<float>& values) {
  constexpr size_t kBlock = Kernels::kElements;
  std::vector<std::byte> payload(Kernels::Bytes(values.size()));
  ASSERT_TRUE(Kernels::Encode(values, payload.data()));
  std::vector<std::byte> alone(payload.size());
  const size_t codes_at = Kernels::ScaleBytes(values.size());
  for (size_t b = 0; b < values.size() / kBlock; ++b) {
    std::vector<std::byte> one(Kernels::Bytes(kBlock));
    ASSERT_TRUE(Kernels::Encode({&values[b * kBlock], kBlock}, one.data()));
    std::memcpy(&alone[b * Kernels::kScaleBytes], one.data(),
                Kernels::kScaleBytes);
    std::memcpy(&alone[codes_at + b * Kernels::kBlockCodeBytes],
                &one[Kernels::kScaleBytes], Kernels::kBlockCodeBytes);
  }
  ASSERT_EQ(payload, alone);
}

TEST(Block4Test, BlocksThatAreEncodedTogetherAreAsTheyAreAlone) {
  cpu::OnEverySimdTarget([] {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(seed);
      const std::vector<float> values = MixedBlocks(seed, seed % 21);
      ExpectAsAlone<Nf4>(values);
      ExpectAsAlone<Nf4F32>(values);
      ExpectAsAlone<E3m0>(values);
      ExpectAsAlone<E3m0F32>(values);
    }
  });
}

TEST(Block4Test, OneValueThatIsNotFiniteIsRefusedInAnyBlock) {
  cpu::OnEverySimdTarget([] {
    for (size_t at = 0; at < 20 * Nf4::kElements; at += 37) {
      std::vector<float> values(20 * Nf4::kElements, 1.0f);
      values[at] = at % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                               : -std::numeric_limits<float>::infinity();
      std::vector<std::byte> payload(Nf4F32::Bytes(values.size()));
      EXPECT_FALSE(Nf4::Encode(values, payload.data()));
      EXPECT_FALSE(E3m0F32::Encode(values, payload.data()));
    }
  });
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
