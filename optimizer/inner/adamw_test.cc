#include "optimizer/inner/adamw.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "base/testing/golden_file.h"
#include "gtest/gtest.h"

namespace skerry::optimizer {
namespace {

using ::skerry::testing::GoldenFile;
using ::skerry::testing::ReadGoldenFile;
using ::skerry::testing::RelativeError;

TEST(AdamWTest, TwentyStepsAgreeWithPyTorch) {
  const GoldenFile golden = ReadGoldenFile("model/exec/testdata/adamw.golden");
  std::vector<float> parameters = golden.floats.at("start");
  const auto& rates = golden.floats.at("rates");
  const auto& gradients = golden.floats.at("gradients");
  const auto& trajectory = golden.floats.at("trajectory");
  const size_t count = parameters.size();
  ASSERT_EQ(rates.size(), 20);
  AdamW optimizer(
      {.beta2 = 0.95f, .weight_decay = 0.1f},
      std::vector<Tensor>{{{0, count / 2}, true}, {{count / 2, count}}});
  InlineExecutor executor;
  for (size_t step = 0; step < rates.size(); ++step) {
    optimizer.Step(parameters, {&gradients[step * count], count}, rates[step],
                   1, executor);
    const std::vector<float> expected(trajectory.begin() + step * count,
                                      trajectory.begin() + (step + 1) * count);
    EXPECT_LE(RelativeError(parameters.data(), count, expected), 1e-6) << step;
  }
  EXPECT_LE(RelativeError(optimizer.state()[0].values.data(), count,
                          golden.floats.at("first_moment")),
            1e-5);
  EXPECT_LE(RelativeError(optimizer.state()[1].values.data(), count,
                          golden.floats.at("second_moment")),
            1e-5);
  EXPECT_EQ(optimizer.steps(), 20);
}

std::vector<float> RandomValues(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

TEST(AdamWTest, DecayReachesTheNamedTensorsOnly) {
  constexpr size_t kCount = 50000;  // more than one parallel body
  std::vector<float> parameters(kCount, 1.0f);
  AdamW optimizer({.weight_decay = 0.5f},
                  std::vector<Tensor>{{{0, 3}},
                                      {{3, 20000}, true},
                                      {{20000, 49999}},
                                      {{49999, 50000}, true}});
  InlineExecutor executor;
  optimizer.Step(parameters, std::vector<float>(kCount), 0.1f, 1, executor);
  for (size_t i = 0; i < kCount; ++i) {
    const bool decayed = (i >= 3 && i < 20000) || i == 49999;
    EXPECT_FLOAT_EQ(parameters[i], decayed ? 0.95f : 1.0f) << i;
  }
}

TEST(AdamWTest, ScalingInTheStepIsScalingBefore) {
  constexpr size_t kCount = 100;
  const std::vector<float> gradients = RandomValues(2, kCount);
  std::vector<float> halves = gradients;
  for (float& g : halves) g *= 0.5f;
  std::vector<float> a = RandomValues(1, kCount);
  std::vector<float> b = a;
  const std::vector<Tensor> all = {{{0, kCount}}};
  AdamW first({}, all);
  AdamW second({}, all);
  InlineExecutor executor;
  first.Step(a, gradients, 0.01f, 0.5f, executor);
  second.Step(b, halves, 0.01f, 1, executor);
  EXPECT_EQ(a, b);
}

TEST(AdamWTest, RefusesOptionsWithoutMeaning) {
  EXPECT_TRUE(ValidateAdamWOptions({}).ok());
  EXPECT_FALSE(ValidateAdamWOptions({.beta1 = 1.0f}).ok());
  EXPECT_FALSE(ValidateAdamWOptions({.beta2 = -0.1f}).ok());
  EXPECT_FALSE(ValidateAdamWOptions({.epsilon = 0}).ok());
  EXPECT_FALSE(ValidateAdamWOptions({.weight_decay = -1}).ok());
}

}  // namespace
}  // namespace skerry::optimizer
