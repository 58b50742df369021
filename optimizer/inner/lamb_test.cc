#include "optimizer/inner/lamb.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::optimizer {
namespace {

// A decayed tensor of several pieces, one of few elements, and a bias.
const std::vector<Tensor>& Tensors() {
  static const auto& tensors = *new std::vector<Tensor>{
      {{0, 40003}, true}, {{40003, 40010}, true}, {{40010, 40100}}};
  return tensors;
}
constexpr size_t kCount = 40100;

std::vector<float> RandomValues(uint64_t seed, float scale) {
  Random random(seed);
  std::vector<float> values(kCount);
  for (float& v : values) {
    v = scale * static_cast<float>(random.Uniform() - 0.5);
  }
  return values;
}

// The header's formula in float64.
class Reference {
 public:
  explicit Reference(const std::vector<float>& start)
      : p(start.begin(), start.end()), m_(kCount), v_(kCount) {}

  void Step(const LambOptions& o, const std::vector<float>& g, double rate) {
    ++steps_;
    const double correct1 = 1 - std::pow(double{o.adam.beta1}, steps_);
    const double correct2 = 1 - std::pow(double{o.adam.beta2}, steps_);
    for (const Tensor& tensor : Tensors()) {
      std::vector<double> u;
      double p_squares = 0, u_squares = 0;
      for (size_t i = tensor.range.begin; i < tensor.range.end; ++i) {
        m_[i] += (1 - double{o.adam.beta1}) * (g[i] - m_[i]);
        v_[i] += (1 - double{o.adam.beta2}) * (double{g[i]} * g[i] - v_[i]);
        u.push_back(m_[i] / correct1 /
                    (std::sqrt(v_[i] / correct2) + double{o.adam.epsilon}));
        if (tensor.decayed) u.back() += double{o.adam.weight_decay} * p[i];
        p_squares += p[i] * p[i];
        u_squares += u.back() * u.back();
      }
      const double ratio =
          tensor.decayed ? std::clamp(std::sqrt(p_squares / u_squares),
                                      double{o.ratio_min}, double{o.ratio_max})
                         : 1;
      for (size_t i = 0; i < u.size(); ++i) {
        p[tensor.range.begin + i] -= rate * ratio * u[i];
      }
    }
  }

  std::vector<double> p;

 private:
  std::vector<double> m_;
  std::vector<double> v_;
  double steps_ = 0;
};

TEST(LambTest, TwentyStepsAgreeWithFloat64) {
  const LambOptions options;
  std::vector<float> p = RandomValues(1, 0.2f);
  Reference reference(p);
  Lamb optimizer(options, Tensors());
  InlineExecutor executor;
  for (int step = 0; step < 20; ++step) {
    const std::vector<float> g = RandomValues(10 + step, 1);
    optimizer.Step(p, g, 0.01f, 1, executor);
    reference.Step(options, g, 0.01f);
  }
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_NEAR(p[i], reference.p[i], 2e-6) << i;
  }
}

TEST(LambTest, RatiosAreBoundedAndThoseOfBiasesAreOne) {
  Lamb optimizer({.ratio_min = 0.5f, .ratio_max = 2.0f}, Tensors());
  std::vector<float> p(kCount, 1e-3f);
  std::fill(p.begin() + 40003, p.begin() + 40010, 100.0f);
  InlineExecutor executor;
  optimizer.Step(p, RandomValues(3, 1), 0.01f, 1, executor);
  EXPECT_EQ(optimizer.ratios()[0], 0.5f);
  EXPECT_EQ(optimizer.ratios()[1], 2.0f);
  EXPECT_EQ(optimizer.ratios()[2], 1.0f);
}

TEST(LambTest, TensorsAndStepsOfZeroHaveARatioOfOne) {
  Lamb optimizer({}, Tensors());
  std::vector<float> p(kCount, 0.0f);
  InlineExecutor executor;
  optimizer.Step(p, std::vector<float>(kCount), 0.01f, 1, executor);
  EXPECT_EQ(optimizer.ratios()[0], 1.0f);
  EXPECT_EQ(p, std::vector<float>(kCount));
  optimizer.Step(p, RandomValues(3, 1), 0.01f, 1, executor);
  EXPECT_EQ(optimizer.ratios()[0], 1.0f);
  EXPECT_NE(p[0], 0.0f);
}

// What LAMB is for: gradients of very different size move tensors by the same
// share of their norm, which Adam alone does not do for tensors.
TEST(LambTest, AStepIsAShareOfTheTensorsNorm) {
  Lamb optimizer({.adam = {.weight_decay = 0}}, Tensors());
  std::vector<float> p = RandomValues(1, 1);
  for (size_t i = 0; i < 40003; ++i) p[i] *= 0.1f;
  const std::vector<float> before = p;
  InlineExecutor executor;
  optimizer.Step(p, RandomValues(2, 1), 0.01f, 1, executor);
  for (int t = 0; t < 2; ++t) {
    double moved = 0, norm = 0;
    for (size_t i = Tensors()[t].range.begin; i < Tensors()[t].range.end; ++i) {
      moved += std::pow(double{p[i]} - before[i], 2);
      norm += std::pow(double{before[i]}, 2);
    }
    EXPECT_NEAR(std::sqrt(moved / norm), 0.01, 1e-4) << t;
  }
}

TEST(LambTest, RefusesOptionsWithoutMeaning) {
  EXPECT_TRUE(ValidateLambOptions({}).ok());
  EXPECT_FALSE(ValidateLambOptions({.adam = {.beta1 = 1}}).ok());
  EXPECT_FALSE(ValidateLambOptions({.ratio_min = 0}).ok());
  EXPECT_FALSE(ValidateLambOptions({.ratio_min = 3, .ratio_max = 2}).ok());
}

}  // namespace
}  // namespace skerry::optimizer
