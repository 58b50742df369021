#include "model/cpu/cross_entropy.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

class CrossEntropyTest : public ::testing::TestWithParam<int> {};

TEST_P(CrossEntropyTest, LossAndGradientMatchFloat64) {
  const int width = GetParam();
  constexpr int kRows = 5;
  constexpr float kScale = 0.25f;
  Random random(7);
  std::vector<float> logits(kRows * width);
  // Large offsets: only the shift by the maximum keeps exp finite.
  for (int i = 0; i < kRows * width; ++i) {
    logits[i] = static_cast<float>(8 * random.Uniform() + 500 * (i / width));
  }
  std::vector<int32_t> targets(kRows);
  for (int32_t& t : targets) t = static_cast<int32_t>(random.Below(width));
  std::vector<float> losses(kRows), again(kRows);
  CrossEntropyForward(kRows, width, targets.data(), logits.data(),
                      losses.data());
  std::vector<float> gradient = logits;
  CrossEntropyBackward(kRows, width, targets.data(), kScale, gradient.data(),
                       again.data());
  for (int r = 0; r < kRows; ++r) {
    const float* row = &logits[r * width];
    double sum = 0;
    for (int i = 0; i < width; ++i) sum += std::exp(double{row[i]} - 500 * r);
    const double log_sum = std::log(sum) + 500 * r;
    EXPECT_NEAR(losses[r], log_sum - row[targets[r]], 1e-4);
    EXPECT_EQ(losses[r], again[r]);
    for (int i = 0; i < width; ++i) {
      const double expected =
          kScale * (std::exp(row[i] - log_sum) - (i == targets[r]));
      EXPECT_NEAR(gradient[r * width + i], expected, 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, CrossEntropyTest,
                         ::testing::Values(1, 2, 15, 16, 37, 256));

TEST(CrossEntropyTest, NanInALogitShowsInTheLoss) {
  for (int at = 0; at < 40; ++at) {
    std::vector<float> logits(40, 1.0f);
    logits[at] = std::numeric_limits<float>::quiet_NaN();
    const int32_t target = 3;
    float loss = 0;
    CrossEntropyBackward(1, 40, &target, 1, logits.data(), &loss);
    EXPECT_TRUE(std::isnan(loss)) << at;
  }
}

}  // namespace
}  // namespace skerry::model::cpu
