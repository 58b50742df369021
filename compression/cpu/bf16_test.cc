#include "compression/cpu/bf16.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

uint16_t CodeOf(float value) {
  uint16_t code = 0;
  EXPECT_TRUE(
      cpu::Bf16::Encode({&value, 1}, reinterpret_cast<std::byte*>(&code)));
  return code;
}

TEST(Bf16Test, EveryFiniteCodeComesBackAndNoOtherIsTaken) {
  for (uint32_t code = 0; code <= 0xffff; ++code) {
    const auto wire = static_cast<uint16_t>(code);
    float value = 0.0f;
    const bool taken = cpu::Bf16::Decode(
        reinterpret_cast<const std::byte*>(&wire), {&value, 1});
    ASSERT_EQ(taken, (code & 0x7f80) != 0x7f80) << code;
    if (taken) {
      ASSERT_EQ(CodeOf(value), wire);
    }
  }
}

TEST(Bf16Test, TiesGoToTheEvenCode) {
  EXPECT_EQ(CodeOf(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(CodeOf(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(CodeOf(std::bit_cast<float>(0xbf818000u)), 0xbf82);
  EXPECT_EQ(CodeOf(std::bit_cast<float>(0x3f808001u)), 0x3f81);
}

TEST(Bf16Test, TheLargestFloatsStayFinite) {
  EXPECT_EQ(CodeOf(FLT_MAX), 0x7f7f);
  EXPECT_EQ(CodeOf(-FLT_MAX), 0xff7f);
}

}  // namespace
}  // namespace skerry::compression
