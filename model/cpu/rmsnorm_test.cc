#include "model/cpu/rmsnorm.h"

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

// dy . y for one row, in float64.
double Objective(const std::vector<double>& x, const std::vector<double>& w,
                 const float* dy) {
  double square = 0;
  for (const double v : x) square += v * v;
  const double rstd =
      1 / std::sqrt(square / static_cast<double>(x.size()) + kEpsilon);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += dy[i] * x[i] * rstd * w[i];
  return sum;
}

double Slope(std::vector<double>& values, size_t i, const auto& objective) {
  constexpr double kStep = 1e-5;
  const double kept = values[i];
  values[i] = kept + kStep;
  const double up = objective();
  values[i] = kept - kStep;
  const double down = objective();
  values[i] = kept;
  return (up - down) / (2 * kStep);
}

class RmsNormTest : public ::testing::TestWithParam<int> {};

TEST_P(RmsNormTest, ValuesAndGradientsMatchFloat64) {
  const size_t width = GetParam();
  constexpr size_t kRows = 3;
  const auto x = RandomFloats(1, kRows * width);
  const auto weight = RandomFloats(2, width);
  const auto dy = RandomFloats(4, kRows * width);
  std::vector<float> y(x.size()), rstd(kRows);
  RmsNormForward(kRows, width, kEpsilon, x.data(), weight.data(), y.data(),
                 rstd.data());
  std::vector<float> dx(x.size(), 5.0f), dweight(width, 1.0f);
  RmsNormBackward(kRows, width, x.data(), weight.data(), rstd.data(), dy.data(),
                  false, dx.data(), dweight.data());
  std::vector<double> w(weight.begin(), weight.end());
  std::vector<double> dweight_expected(width, 1.0);
  for (size_t r = 0; r < kRows; ++r) {
    std::vector<double> row(x.begin() + r * width, x.begin() + (r + 1) * width);
    const float* g = &dy[r * width];
    const auto objective = [&] { return Objective(row, w, g); };
    double sum = 0;
    for (size_t i = 0; i < width; ++i) sum += g[i] * y[r * width + i];
    EXPECT_NEAR(sum, objective(), 2e-5);
    for (size_t i = 0; i < width; ++i) {
      EXPECT_NEAR(dx[r * width + i], Slope(row, i, objective), 2e-5)
          << r << " " << i;
      dweight_expected[i] += Slope(w, i, objective);
    }
  }
  for (size_t i = 0; i < width; ++i) {
    EXPECT_NEAR(dweight[i], dweight_expected[i], 2e-5);
  }
  std::vector<float> twice = dx;
  RmsNormBackward(kRows, width, x.data(), weight.data(), rstd.data(), dy.data(),
                  true, twice.data(), dweight.data());
  for (size_t i = 0; i < dx.size(); ++i) EXPECT_FLOAT_EQ(twice[i], 2 * dx[i]);
}

INSTANTIATE_TEST_SUITE_P(Widths, RmsNormTest,
                         ::testing::Values(1, 2, 15, 16, 20, 97));

}  // namespace
}  // namespace skerry::model::cpu
