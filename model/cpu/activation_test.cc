#include "model/cpu/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

constexpr double kPi = 3.14159265358979323846;

double Exact(Activation kind, double x) {
  if (kind == Activation::kGeluErf) {
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  }
  if (kind == Activation::kRelu) return std::max(x, 0.0);
  if (kind == Activation::kSilu) return x / (1 + std::exp(-x));
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
}

double ExactSlope(Activation kind, double x) {
  if (kind == Activation::kRelu) return x > 0 ? 1 : 0;
  constexpr double kStep = 1e-5;
  return (Exact(kind, x + kStep) - Exact(kind, x - kStep)) / (2 * kStep);
}

class ActivationTest : public ::testing::TestWithParam<Activation> {};

TEST_P(ActivationTest, ValueAndSlopeStayWithinTheStatedError) {
  std::vector<float> x;
  for (float v = -10; v <= 10; v += 0.0037f) x.push_back(v);
  const std::vector<float> ones(x.size(), 1.0f);
  std::vector<float> y(x.size()), slope(x.size());
  ActivationForward(GetParam(), x.size(), x.data(), y.data());
  ActivationBackward(GetParam(), x.size(), x.data(), ones.data(), slope.data());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(y[i], Exact(GetParam(), x[i]), 2e-6) << x[i];
    EXPECT_NEAR(slope[i], ExactSlope(GetParam(), x[i]), 2e-6) << x[i];
  }
}

TEST_P(ActivationTest, FarArgumentsAreTheIdentityAndZero) {
  const std::vector<float> x = {-1e6f, -200, 200, 1e6f};
  std::vector<float> y(x.size());
  ActivationForward(GetParam(), x.size(), x.data(), y.data());
  EXPECT_NEAR(y[0], 0, 1e-25);
  EXPECT_NEAR(y[1], 0, 1e-25);
  EXPECT_EQ(y[2], 200);
  EXPECT_EQ(y[3], 1e6f);
}

TEST_P(ActivationTest, EveryLengthAndInPlaceGiveTheSameBits) {
  std::vector<float> x;
  for (int i = 0; i < 70; ++i) x.push_back(0.1f * static_cast<float>(i - 35));
  std::vector<float> whole(x.size());
  ActivationForward(GetParam(), x.size(), x.data(), whole.data());
  for (size_t count = 0; count <= x.size(); ++count) {
    std::vector<float> part(x.begin(), x.begin() + count);
    ActivationForward(GetParam(), count, part.data(), part.data());
    for (size_t i = 0; i < count; ++i) EXPECT_FLOAT_EQ(part[i], whole[i]);
  }
}

TEST_P(ActivationTest, NanStaysNan) {
  const std::vector<float> x(40, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> y(x.size());
  ActivationForward(GetParam(), x.size(), x.data(), y.data());
  for (const float v : y) EXPECT_TRUE(std::isnan(v));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ActivationTest,
                         ::testing::Values(Activation::kGeluTanh,
                                           Activation::kGeluErf,
                                           Activation::kRelu,
                                           Activation::kSilu));

}  // namespace
}  // namespace skerry::model::cpu
