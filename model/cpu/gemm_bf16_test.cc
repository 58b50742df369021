#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/cpu/testing/gemm_conformance.h"
#include "model/cpu/testing/rounded_gemm.h"

namespace skerry::model::cpu {
namespace {

class Bf16GemmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gemm_ == nullptr) GTEST_SKIP() << "no bf16 on this processor";
  }

  float Product(float a, float b) {
    float c = 0;
    gemm_->Multiply({Transpose::kNo, Transpose::kNo, 1, 1, 1}, &a, 1, &b, 1,
                    0.0f, &c, 1);
    return c;
  }

  const GemmBackend* const gemm_ = Bf16Gemm();
};

TEST_F(Bf16GemmTest, MultipliesInEveryOrientation) {
  CheckGemm(*gemm_, Operands::kRoundedToBf16);
}

TEST_F(Bf16GemmTest, OperandsAreRoundedToTheNearestAndEven) {
  // 1 + 2^-7 is the next number after 1.
  const float half = 1 + 0x1p-8f;
  const float half_above_odd = 1 + 0x1p-7f + 0x1p-8f;
  EXPECT_EQ(Product(half, 1), 1);
  EXPECT_EQ(Product(1, half), 1);
  EXPECT_EQ(Product(std::nextafter(half, 2.0f), 1), 1 + 0x1p-7f);
  EXPECT_EQ(Product(half_above_odd, 1), 1 + 0x1p-6f);
  for (const float x : {half, half_above_odd, -3.14159f, 1e-30f, 65519.0f}) {
    EXPECT_EQ(Product(x, 1), RoundToBf16(x));
  }
}

TEST_F(Bf16GemmTest, WhatIsNotFiniteStaysSo) {
  using Limits = std::numeric_limits<float>;
  EXPECT_TRUE(std::isnan(Product(Limits::quiet_NaN(), 1)));
  EXPECT_EQ(Product(Limits::infinity(), 1), Limits::infinity());
  EXPECT_EQ(Product(1, -Limits::infinity()), -Limits::infinity());
  // Half a step below what would be the next number.
  EXPECT_EQ(Product(Limits::max(), 1), Limits::infinity());
  EXPECT_TRUE(std::isnan(Product(Limits::infinity(), 0)));
  EXPECT_EQ(Product(Limits::denorm_min(), 1), 0);
}

TEST_F(Bf16GemmTest, SumsAreNotRounded) {
  // 256 + 1 has no bf16.
  const std::vector<float> a = {16, 1, 1};
  const std::vector<float> b = {16, 1, 0};
  float c = 0.5f;
  gemm_->Multiply({Transpose::kNo, Transpose::kNo, 1, 1, 3}, a.data(), 3,
                  b.data(), 1, 1.0f, &c, 1);
  EXPECT_EQ(c, 257.5f);
}

TEST_F(Bf16GemmTest, EqualArgumentsGiveEqualBitsAfterAnythingElse) {
  const GemmShape shape = {Transpose::kNo, Transpose::kNo, 20, 40, 50};
  std::vector<float> a(20 * 50), b(50 * 40);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i));
  std::vector<float> once(20 * 40), again(20 * 40);
  gemm_->Multiply(shape, a.data(), 50, b.data(), 40, 0.0f, once.data(), 40);
  // Leaves other numbers where this product's panels end.
  CheckGemm(*gemm_, Operands::kRoundedToBf16);
  gemm_->Multiply(shape, a.data(), 50, b.data(), 40, 0.0f, again.data(), 40);
  EXPECT_EQ(once, again);
}

}  // namespace
}  // namespace skerry::model::cpu
