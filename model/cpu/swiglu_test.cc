#include "model/cpu/swiglu.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

double Silu(double x) { return x / (1 + std::exp(-x)); }

double SiluSlope(double x) {
  constexpr double kStep = 1e-5;
  return (Silu(x + kStep) - Silu(x - kStep)) / (2 * kStep);
}

TEST(SwiGluTest, ValueAndGradientsMatchFiniteDifferencesInFloat64) {
  std::vector<float> gate;
  for (float v = -20; v <= 20; v += 0.0137f) gate.push_back(v);
  std::vector<float> up(gate.size()), dy(gate.size());
  for (size_t i = 0; i < gate.size(); ++i) {
    up[i] = 0.5f + 0.3f * static_cast<float>(i % 7);
    dy[i] = 1.0f - 0.2f * static_cast<float>(i % 5);
  }
  std::vector<float> y(gate.size()), dgate(gate.size()), dup(gate.size());
  SwiGluForward(gate.size(), gate.data(), up.data(), y.data());
  SwiGluBackward(gate.size(), gate.data(), up.data(), dy.data(), dgate.data(),
                 dup.data());
  for (size_t i = 0; i < gate.size(); ++i) {
    const double x = gate[i];
    const double tolerance = 1e-6 * std::abs(x) * 3 + 3e-6;
    EXPECT_NEAR(y[i], Silu(x) * up[i], tolerance) << x;
    EXPECT_NEAR(dup[i], Silu(x) * dy[i], tolerance) << x;
    EXPECT_NEAR(dgate[i], SiluSlope(x) * up[i] * dy[i], tolerance) << x;
  }
}

TEST(SwiGluTest, FarArgumentsAreTheIdentityAndZero) {
  const std::vector<float> gate = {-1e6f, -200, 200, 1e6f};
  const std::vector<float> ones(gate.size(), 1.0f);
  std::vector<float> y(gate.size()), dgate(gate.size()), dup(gate.size());
  SwiGluForward(gate.size(), gate.data(), ones.data(), y.data());
  SwiGluBackward(gate.size(), gate.data(), ones.data(), ones.data(),
                 dgate.data(), dup.data());
  EXPECT_NEAR(y[0], 0, 1e-25);
  EXPECT_NEAR(y[1], 0, 1e-25);
  EXPECT_EQ(y[2], 200);
  EXPECT_EQ(y[3], 1e6f);
  EXPECT_NEAR(dgate[0], 0, 1e-25);
  EXPECT_FLOAT_EQ(dgate[3], 1);
}

TEST(SwiGluTest, EveryLengthAndInPlaceGiveTheSame) {
  constexpr size_t kCount = 70;
  std::vector<float> gate(kCount), up(kCount), dy(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    gate[i] = 0.1f * static_cast<float>(i) - 3;
    up[i] = 1 + gate[i] * gate[i];
    dy[i] = 2 - gate[i];
  }
  std::vector<float> dgate(kCount), dup(kCount);
  SwiGluBackward(kCount, gate.data(), up.data(), dy.data(), dgate.data(),
                 dup.data());
  for (size_t count = 0; count <= kCount; ++count) {
    std::vector<float> part(dy.begin(), dy.begin() + count), other(count);
    SwiGluBackward(count, gate.data(), up.data(), part.data(), other.data(),
                   part.data());
    for (size_t i = 0; i < count; ++i) {
      EXPECT_FLOAT_EQ(part[i], dup[i]);
      EXPECT_FLOAT_EQ(other[i], dgate[i]);
    }
  }
}

TEST(SwiGluTest, NanStaysNan) {
  const std::vector<float> nan(40, std::numeric_limits<float>::quiet_NaN());
  const std::vector<float> ones(nan.size(), 1.0f);
  std::vector<float> y(nan.size());
  SwiGluForward(nan.size(), nan.data(), ones.data(), y.data());
  for (const float v : y) EXPECT_TRUE(std::isnan(v));
  SwiGluForward(nan.size(), ones.data(), nan.data(), y.data());
  for (const float v : y) EXPECT_TRUE(std::isnan(v));
}

}  // namespace
}  // namespace skerry::model::cpu
