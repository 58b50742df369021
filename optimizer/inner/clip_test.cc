#include "optimizer/inner/clip.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::optimizer {
namespace {

std::vector<float> RandomValues(size_t count) {
  Random random(3);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

TEST(ClipTest, NormMatchesALongDoubleSum) {
  InlineExecutor executor;
  for (const size_t count : {0, 1, 15, 63, 64, 65, 1000, 100003}) {
    const std::vector<float> values = RandomValues(count);
    long double sum = 0;
    for (const float v : values) sum += static_cast<long double>(v) * v;
    const double expected = std::sqrt(static_cast<double>(sum));
    EXPECT_NEAR(GlobalNorm(values, executor), expected, 1e-12 * expected)
        << count;
  }
}

TEST(ClipTest, LargeElementsDoNotOverflow) {
  InlineExecutor executor;
  const std::vector<float> values(16, 1e30f);
  EXPECT_NEAR(GlobalNorm(values, executor), 4e30, 1e24);
}

TEST(ClipTest, AnyNonFiniteElementShows) {
  InlineExecutor executor;
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> values = RandomValues(1000);
    values[777] = bad;
    EXPECT_FALSE(std::isfinite(GlobalNorm(values, executor)));
  }
}

TEST(ClipTest, OnlyLongGradientsAreShortened) {
  EXPECT_EQ(ClipFactor(0.5, 1.0), 1.0f);
  EXPECT_NEAR(ClipFactor(4.0, 1.0), 0.25f, 1e-6);
  EXPECT_EQ(ClipFactor(4.0, 0), 1.0f);
  EXPECT_EQ(ClipFactor(0, 1.0), 1.0f);
}

}  // namespace
}  // namespace skerry::optimizer
