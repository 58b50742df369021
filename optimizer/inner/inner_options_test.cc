#include "optimizer/inner/inner_options.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "optimizer/inner/testing/plain_products.h"

namespace skerry::optimizer {
namespace {

constexpr size_t kCount = 300;

const std::vector<Tensor>& Tensors() {
  static const auto& tensors = *new std::vector<Tensor>{
      {{0, 100}, true}, {{100, 280}, true, 12, 15}, {{280, kCount}}};
  return tensors;
}

std::vector<float> RandomValues(uint64_t seed) {
  Random random(seed);
  std::vector<float> values(kCount);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

class EachAlgorithm : public testing::TestWithParam<Algorithm> {
 protected:
  std::unique_ptr<InnerOptimizer> Make() {
    return MakeInnerOptimizer({.algorithm = GetParam()}, Tensors(), products_);
  }

  const PlainProducts products_;
  InlineExecutor executor_;
};

TEST_P(EachAlgorithm, FindsTheBottomOfABowl) {
  const auto optimizer = Make();
  const std::vector<float> bottom = RandomValues(3);
  std::vector<float> p(kCount, 0.01f), g(kCount);
  const auto loss = [&] {
    double sum = 0;
    for (size_t i = 0; i < kCount; ++i) {
      g[i] = p[i] - bottom[i];
      sum += double{g[i]} * g[i];
    }
    return sum;
  };
  const double before = loss();
  for (int step = 0; step < 300; ++step) {
    loss();
    optimizer->Step(p, g, 0.03f * (1 - static_cast<float>(step) / 300), 1,
                    executor_);
  }
  // Weight decay pulls all but the last tensor away from it.
  EXPECT_LT(loss(), 0.05 * before);
}

TEST_P(EachAlgorithm, StateCarriedOverContinuesTheRun) {
  const auto first = Make();
  std::vector<float> a = RandomValues(1);
  for (int i = 0; i < 5; ++i) {
    first->Step(a, RandomValues(10 + i), 0.01f, 1, executor_);
  }
  const auto second = Make();
  const auto from = first->state();
  const auto to = second->state();
  ASSERT_EQ(from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(from[i].name, to[i].name);
    ASSERT_EQ(from[i].values.size(), to[i].values.size());
    ASSERT_EQ(from[i].values.size(), ElementCount(from[i].tensors));
    std::copy(from[i].values.begin(), from[i].values.end(),
              to[i].values.begin());
  }
  second->set_steps(first->steps());
  std::vector<float> b = a;
  first->Step(a, RandomValues(20), 0.01f, 1, executor_);
  second->Step(b, RandomValues(20), 0.01f, 1, executor_);
  EXPECT_EQ(a, b);
}

INSTANTIATE_TEST_SUITE_P(All, EachAlgorithm,
                         testing::Values(Algorithm::kAdamW, Algorithm::kLamb,
                                         Algorithm::kSgd, Algorithm::kMuon));

TEST(InnerOptionsTest, WhatIsWrongIsNamedWithItsAlgorithm) {
  EXPECT_TRUE(ValidateInnerOptions({}).ok());
  const auto refusal = [](Algorithm algorithm) {
    return std::string(
        ValidateInnerOptions({.algorithm = algorithm, .momentum = 1})
            .message());
  };
  EXPECT_EQ(refusal(Algorithm::kAdamW), "");
  EXPECT_EQ(refusal(Algorithm::kLamb), "");
  EXPECT_EQ(refusal(Algorithm::kSgd),
            "SGD: momentum must be at least 0 and below 1");
  EXPECT_EQ(refusal(Algorithm::kMuon),
            "Muon: momentum must be at least 0 and below 1");
}

}  // namespace
}  // namespace skerry::optimizer
