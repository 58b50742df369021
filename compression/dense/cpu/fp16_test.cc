#include "compression/dense/cpu/fp16.h"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

uint16_t CodeOf(float value) {
  uint16_t code = 0;
  EXPECT_TRUE(
      cpu::Fp16::Encode({&value, 1}, reinterpret_cast<std::byte*>(&code)));
  return code;
}

TEST(Fp16Test, EveryFiniteCodeComesBackAndNoOtherIsTaken) {
  for (uint32_t code = 0; code <= 0xffff; ++code) {
    const auto wire = static_cast<uint16_t>(code);
    float value = 0.0f;
    const bool taken = cpu::Fp16::Decode(
        reinterpret_cast<const std::byte*>(&wire), {&value, 1});
    ASSERT_EQ(taken, (code & 0x7c00) != 0x7c00) << code;
    if (taken) {
      ASSERT_EQ(CodeOf(value), wire);
    }
  }
}

TEST(Fp16Test, TiesGoToTheEvenCodeAmongNormalsAndSubnormals) {
  EXPECT_EQ(CodeOf(1.0f + 0x1p-11f), 0x3c00);
  EXPECT_EQ(CodeOf(1.0f + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(CodeOf(0x1p-25f), 0x0000);
  EXPECT_EQ(CodeOf(3 * 0x1p-25f), 0x0002);
  EXPECT_EQ(CodeOf(-0x1.8p-25f), 0x8001);
  EXPECT_EQ(CodeOf(std::nextafter(0x1p-14f, 0.0f)), 0x0400);
}

TEST(Fp16Test, MiddlesDivideCodesAtEveryVectorLength) {
  std::vector<uint16_t> halves(0x7c00);
  std::iota(halves.begin(), halves.end(), uint16_t{0});
  std::vector<float> exact(halves.size());
  ASSERT_TRUE(cpu::Fp16::Decode(
      reinterpret_cast<const std::byte*>(halves.data()), exact));
  std::vector<float> values;
  std::vector<uint16_t> expected;
  const auto expect = [&](float value, uint16_t code) {
    values.insert(values.end(), {value, -value});
    expected.push_back(code);
    expected.push_back(code | 0x8000);
  };
  for (uint16_t code = 0; code < 0x7bff; ++code) {
    const uint16_t next = code + 1;
    const float middle = (exact[code] + exact[next]) / 2;
    expect(std::nextafter(middle, 0.0f), code);
    expect(middle, code % 2 == 0 ? code : next);
    expect(std::nextafter(middle, 1e6f), next);
  }
  cpu::OnEverySimdTarget([&] {
    std::vector<uint16_t> codes(values.size());
    ASSERT_TRUE(
        cpu::Fp16::Encode(values, reinterpret_cast<std::byte*>(codes.data())));
    EXPECT_EQ(codes, expected);
  });
}

TEST(Fp16Test, ValuesBeyondTheLargestHalfTakeIt) {
  EXPECT_EQ(CodeOf(65519.0f), 0x7bff);
  EXPECT_EQ(CodeOf(65520.0f), 0x7bff);
  EXPECT_EQ(CodeOf(FLT_MAX), 0x7bff);
  EXPECT_EQ(CodeOf(-FLT_MAX), 0xfbff);
}

}  // namespace
}  // namespace skerry::compression
