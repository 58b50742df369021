#include "compression/dense/cpu/bf16.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

#include "compression/testing/every_simd_target.h"
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

double Widened(uint16_t code) {
  return std::bit_cast<float>(uint32_t{code} << 16);
}

// By distance, the even code where two are as near.
uint16_t NearestCode(float value) {
  const auto toward_zero =
      static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
  const auto away = static_cast<uint16_t>(toward_zero + 1);
  if (!std::isfinite(Widened(away))) return toward_zero;
  const double near = std::abs(value - Widened(toward_zero));
  const double far = std::abs(value - Widened(away));
  if (near == far) return toward_zero % 2 == 0 ? toward_zero : away;
  return near < far ? toward_zero : away;
}

TEST(Bf16Test, EveryCodesNeighboursGoToTheNearestCodeAtEveryVectorLength) {
  std::vector<float> values;
  for (uint32_t upper = 0; upper <= 0xffff; ++upper) {
    if ((upper & 0x7f80) == 0x7f80) continue;
    for (const uint32_t lower : {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff}) {
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  cpu::OnEverySimdTarget([&] {
    std::vector<uint16_t> codes(values.size());
    ASSERT_TRUE(
        cpu::Bf16::Encode(values, reinterpret_cast<std::byte*>(codes.data())));
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(codes[i], NearestCode(values[i])) << values[i];
    }
  });
}

TEST(Bf16Test, WhatIsNotFiniteIsRefusedAtEveryVectorLength) {
  for (const uint32_t bits :
       {0x7f800000u, 0xff800000u, 0x7f800001u, 0x7fffffffu, 0xffffffffu}) {
    std::vector<float> values(300, 1.0f);
    for (const size_t at : {0, 17, 255, 299}) {
      values[at] = std::bit_cast<float>(bits);
      std::vector<uint16_t> codes(values.size());
      cpu::OnEverySimdTarget([&] {
        EXPECT_FALSE(cpu::Bf16::Encode(
            values, reinterpret_cast<std::byte*>(codes.data())))
            << bits << " at " << at;
      });
      values[at] = 1.0f;
    }
  }
}

}  // namespace
}  // namespace skerry::compression
