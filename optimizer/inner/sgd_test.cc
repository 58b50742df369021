#include "optimizer/inner/sgd.h"

#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::optimizer {
namespace {

std::vector<float> RandomValues(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

// torch.optim.SGD, in float64; the first half is decayed.
void ReferenceStep(const SgdOptions& options, double rate, double scale,
                   const std::vector<float>& gradients, std::vector<double>& m,
                   std::vector<double>& p) {
  for (size_t i = 0; i < p.size(); ++i) {
    double g = scale * gradients[i];
    if (i < p.size() / 2) g += double{options.weight_decay} * p[i];
    m[i] = double{options.momentum} * m[i] + g;
    p[i] -=
        rate * (options.nesterov ? g + double{options.momentum} * m[i] : m[i]);
  }
}

TEST(SgdTest, TwentyStepsAgreeWithFloat64) {
  constexpr size_t kCount = 40002;  // more than one piece, and no whole vector
  for (const bool nesterov : {false, true}) {
    const SgdOptions options = {0.9f, nesterov, 0.125f};
    Sgd optimizer(options, std::vector<Tensor>{{{0, kCount / 2}, true},
                                               {{kCount / 2, kCount}}});
    std::vector<float> p = RandomValues(1, kCount);
    std::vector<double> reference(p.begin(), p.end());
    std::vector<double> m(kCount, 0.0);
    InlineExecutor executor;
    for (int step = 0; step < 20; ++step) {
      const std::vector<float> g = RandomValues(10 + step, kCount);
      const float rate = 0.01f * static_cast<float>(step + 1);
      optimizer.Step(p, g, rate, 0.5f, executor);
      ReferenceStep(options, rate, 0.5, g, m, reference);
    }
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_NEAR(p[i], reference[i], 2e-6) << i << " " << nesterov;
    }
    EXPECT_EQ(optimizer.steps(), 20u);
  }
}

TEST(SgdTest, WhatIsInNoTensorIsLeftAlone) {
  Sgd optimizer({}, std::vector<Tensor>{{{1, 3}}});
  std::vector<float> p(5, 1.0f);
  InlineExecutor executor;
  optimizer.Step(p, std::vector<float>(5, 1.0f), 0.5f, 1, executor);
  EXPECT_EQ(p, (std::vector<float>{1, 0.5f, 0.5f, 1, 1}));
}

TEST(SgdTest, RefusesOptionsWithoutMeaning) {
  EXPECT_TRUE(ValidateSgdOptions({}).ok());
  EXPECT_TRUE(ValidateSgdOptions({.momentum = 0}).ok());
  EXPECT_FALSE(ValidateSgdOptions({.momentum = 1}).ok());
  EXPECT_FALSE(ValidateSgdOptions({.momentum = 0, .nesterov = true}).ok());
  EXPECT_FALSE(ValidateSgdOptions({.weight_decay = -1}).ok());
}

}  // namespace
}  // namespace skerry::optimizer
