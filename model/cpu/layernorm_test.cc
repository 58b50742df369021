#include "model/cpu/layernorm.h"

#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

constexpr float kEpsilon = 1e-3f;

std::vector<float> RandomFloats(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(2 * random.Uniform() - 1);
  return values;
}

// One row in float64, weighted by `dy` and summed: the function whose
// derivatives backward computes.
double Objective(const std::vector<double>& x, const std::vector<float>& weight,
                 const std::vector<float>& bias, const float* dy) {
  double mean = 0;
  for (const double v : x) mean += v / x.size();
  double variance = 0;
  for (const double v : x) variance += (v - mean) * (v - mean) / x.size();
  const double rstd = 1 / std::sqrt(variance + double{kEpsilon});
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += dy[i] * ((x[i] - mean) * rstd * weight[i] + bias[i]);
  }
  return sum;
}

class LayerNormTest : public ::testing::TestWithParam<int> {};

TEST_P(LayerNormTest, GradientsMatchFiniteDifferencesInFloat64) {
  const size_t width = GetParam();
  constexpr size_t kRows = 3;
  const auto x = RandomFloats(1, kRows * width);
  const auto weight = RandomFloats(2, width);
  const auto bias = RandomFloats(3, width);
  const auto dy = RandomFloats(4, kRows * width);
  std::vector<float> y(x.size()), mean(kRows), rstd(kRows);
  LayerNormForward(kRows, width, kEpsilon, x.data(), weight.data(), bias.data(),
                   y.data(), mean.data(), rstd.data());
  std::vector<float> dx(x.size(), 5.0f), dweight(width, 1.0f), dbias(width);
  LayerNormBackward(kRows, width, x.data(), weight.data(), mean.data(),
                    rstd.data(), dy.data(), false, dx.data(), dweight.data(),
                    dbias.data());
  std::vector<double> dweight_expected(width, 1.0), dbias_expected(width);
  for (size_t r = 0; r < kRows; ++r) {
    const std::vector<double> row(x.begin() + r * width,
                                  x.begin() + (r + 1) * width);
    double sum = 0;
    for (size_t i = 0; i < width; ++i)
      sum += dy[r * width + i] * y[r * width + i];
    EXPECT_NEAR(sum, Objective(row, weight, bias, &dy[r * width]), 2e-5);
    for (size_t i = 0; i < width; ++i) {
      constexpr double kStep = 1e-5;
      std::vector<double> up = row, down = row;
      up[i] += kStep;
      down[i] -= kStep;
      const double slope = (Objective(up, weight, bias, &dy[r * width]) -
                            Objective(down, weight, bias, &dy[r * width])) /
                           (2 * kStep);
      EXPECT_NEAR(dx[r * width + i], slope, 2e-5) << r << " " << i;
      const double hat = (row[i] - mean[r]) * rstd[r];
      dweight_expected[i] += dy[r * width + i] * hat;
      dbias_expected[i] += dy[r * width + i];
    }
  }
  for (size_t i = 0; i < width; ++i) {
    EXPECT_NEAR(dweight[i], dweight_expected[i], 1e-5);
    EXPECT_NEAR(dbias[i], dbias_expected[i], 1e-5);
  }
  std::vector<float> twice = dx;
  LayerNormBackward(kRows, width, x.data(), weight.data(), mean.data(),
                    rstd.data(), dy.data(), true, twice.data(), dweight.data(),
                    dbias.data());
  for (size_t i = 0; i < dx.size(); ++i) EXPECT_FLOAT_EQ(twice[i], 2 * dx[i]);
}

INSTANTIATE_TEST_SUITE_P(Widths, LayerNormTest,
                         ::testing::Values(2, 15, 16, 20, 96));

}  // namespace
}  // namespace skerry::model::cpu
