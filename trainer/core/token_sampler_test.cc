#include "trainer/core/token_sampler.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

TEST(SampleTokenTest, ZeroTemperatureTakesTheFirstLargest) {
  Random random(1);
  const std::vector<float> logits = {0.f, 3.f, -1.f, 3.f};
  EXPECT_EQ(SampleToken(logits, 0, random).value(), 1);
}

TEST(SampleTokenTest, FrequenciesFollowTheSoftmax) {
  Random random(7);
  const std::vector<float> logits = {1000.f, 1001.f, 998.f};
  constexpr int kDraws = 40000;
  constexpr double kTemperature = 2;
  std::vector<int> counts(3);
  for (int i = 0; i < kDraws; ++i) {
    ++counts[SampleToken(logits, kTemperature, random).value()];
  }
  double total = 0;
  for (const float logit : logits) total += std::exp(logit / 2 - 500);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(counts[i], kDraws * std::exp(logits[i] / 2 - 500) / total,
                0.01 * kDraws);
  }
}

TEST(SampleTokenTest, OutputThatIsNotFiniteIsAnError) {
  Random random(1);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity()}) {
    const std::vector<float> logits = {0.f, bad};
    EXPECT_TRUE(absl::IsInternal(SampleToken(logits, 1, random).status()));
  }
}

}  // namespace
}  // namespace skerry::trainer
