#include "model/safetensors/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::model {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

uint16_t Encoded(float value, Dtype dtype) {
  uint16_t half;
  EncodeElements(std::span(&value, 1), dtype,
                 std::as_writable_bytes(std::span(&half, 1)));
  return half;
}

float Decoded(uint16_t half, Dtype dtype) {
  float value;
  DecodeElements(std::as_bytes(std::span(&half, 1)), dtype,
                 std::span(&value, 1));
  return value;
}

// The value of a half by its definition, in double precision.
double F16ByDefinition(int half) {
  const double sign = half & 0x8000 ? -1 : 1;
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                       : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(DtypeTest, EveryFiniteF16HasItsValueAndComesBack) {
  for (int half = 0; half < 0x10000; ++half) {
    if (((half >> 10) & 31) == 31) continue;
    const float value = Decoded(half, Dtype::kF16);
    ASSERT_EQ(value, F16ByDefinition(half)) << half;
    ASSERT_EQ(Encoded(value, Dtype::kF16), half);
  }
}

TEST(DtypeTest, EveryBf16ThatIsANumberComesBack) {
  for (int half = 0; half < 0x10000; ++half) {
    const float value = Decoded(half, Dtype::kBf16);
    if (std::isnan(value)) continue;
    ASSERT_EQ(Encoded(value, Dtype::kBf16), half);
  }
}

// Between two neighbours the nearer one is taken; in the middle, the even one.
TEST(DtypeTest, RoundsToNearestAndTiesToEven) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kF16}) {
    for (int half = 0; half < 0x7000; ++half) {
      const float low = Decoded(half, dtype);
      const float high = Decoded(half + 1, dtype);
      if (low == 0 && dtype == Dtype::kBf16) continue;  // below fp32 normals
      const float middle = static_cast<float>((double{low} + high) / 2);
      const int even = half % 2 == 0 ? half : half + 1;
      ASSERT_EQ(Encoded(middle, dtype), even) << DtypeName(dtype) << half;
      ASSERT_EQ(Encoded(std::nextafter(middle, low), dtype), half);
      ASSERT_EQ(Encoded(std::nextafter(middle, high), dtype), half + 1);
    }
  }
}

TEST(DtypeTest, TooLargeIsInfinityAndNanStaysNan) {
  EXPECT_EQ(Decoded(Encoded(65519.0f, Dtype::kF16), Dtype::kF16), 65504.0f);
  EXPECT_EQ(Decoded(Encoded(65520.0f, Dtype::kF16), Dtype::kF16), kInfinity);
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kF16}) {
    EXPECT_EQ(Decoded(Encoded(-kInfinity, dtype), dtype), -kInfinity);
    EXPECT_EQ(Decoded(Encoded(3.4028235e38f, dtype), dtype), kInfinity);
    const float nan = std::bit_cast<float>(0x7f800001u);
    EXPECT_TRUE(std::isnan(Decoded(Encoded(nan, dtype), dtype)));
  }
}

TEST(DtypeTest, F32IsCopied) {
  const std::vector<float> values = {1.5f, -0.0f, kInfinity};
  std::vector<std::byte> bytes(12);
  EncodeElements(values, Dtype::kF32, bytes);
  std::vector<float> again(3);
  DecodeElements(bytes, Dtype::kF32, again);
  EXPECT_EQ(again, values);
}

TEST(DtypeTest, F64IsRoundedToTheNearest) {
  const std::vector<float> values = {1.5f, -0.0f, kInfinity, 0.1f};
  std::vector<std::byte> bytes(32);
  EncodeElements(values, Dtype::kF64, bytes);
  const double third = 1.0 / 3;
  std::memcpy(bytes.data(), &third, sizeof(third));
  std::vector<float> again(4);
  DecodeElements(bytes, Dtype::kF64, again);
  EXPECT_EQ(again, (std::vector<float>{1.0f / 3, -0.0f, kInfinity, 0.1f}));
}

TEST(DtypeTest, NamesLeadBack) {
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kBf16, Dtype::kF16, Dtype::kF64}) {
    EXPECT_EQ(DtypeFromName(DtypeName(dtype)), dtype);
  }
  EXPECT_FALSE(DtypeFromName("I64").has_value());
}

}  // namespace
}  // namespace skerry::model
