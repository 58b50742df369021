#include "compression/cpu/fp16.h"

#include <cfloat>
#include <cmath>
#include <vector>

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

TEST(Fp16Test, ValuesBeyondTheLargestHalfTakeIt) {
  EXPECT_EQ(CodeOf(65519.0f), 0x7bff);
  EXPECT_EQ(CodeOf(65520.0f), 0x7bff);
  EXPECT_EQ(CodeOf(FLT_MAX), 0x7bff);
  EXPECT_EQ(CodeOf(-FLT_MAX), 0xfbff);
}

}  // namespace
}  // namespace skerry::compression
