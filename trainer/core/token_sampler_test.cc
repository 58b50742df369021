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
  EXPECT_EQ(SampleToken(logits, {}, {}, random).value(), 1);
}

TEST(SampleTokenTest, FrequenciesFollowTheSoftmax) {
  Random random(7);
  const std::vector<float> logits = {1000.f, 1001.f, 998.f};
  constexpr int kDraws = 40000;
  constexpr double kTemperature = 2;
  std::vector<int> counts(3);
  for (int i = 0; i < kDraws; ++i) {
    ++counts[SampleToken(logits, {}, {.temperature = kTemperature}, random)
                 .value()];
  }
  double total = 0;
  for (const float logit : logits) total += std::exp(logit / 2 - 500);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(counts[i], kDraws * std::exp(logits[i] / 2 - 500) / total,
                0.01 * kDraws);
  }
}

// How often each of three tokens is drawn.
std::vector<int> Counts(const std::vector<float>& logits,
                        const Sampling& sampling) {
  Random random(3);
  std::vector<int> counts(logits.size());
  for (int i = 0; i < 1000; ++i) {
    ++counts[SampleToken(logits, {}, sampling, random).value()];
  }
  return counts;
}

TEST(SampleTokenTest, TopKLeavesTheLikeliest) {
  const std::vector<float> logits = {1.f, 3.f, 2.f, 2.f};
  const auto one = Counts(logits, {.temperature = 1, .top_k = 1});
  EXPECT_EQ(one[1], 1000);
  // The first of equals stays.
  const auto two = Counts(logits, {.temperature = 1, .top_k = 2});
  EXPECT_EQ(two[1] + two[2], 1000);
  EXPECT_NEAR(two[2], 1000 / (1 + std::exp(1.0)), 50);
  // As without it, bit for bit.
  Random a(5), b(5);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(
        SampleToken(logits, {}, {.temperature = 1, .top_k = 4}, a).value(),
        SampleToken(logits, {}, {.temperature = 1}, b).value());
  }
}

TEST(SampleTokenTest, TopPLeavesTheLikeliestOfAShare) {
  // Probabilities 0.5, 0.3 and 0.2.
  const std::vector<float> logits = {std::log(3.f), std::log(5.f),
                                     std::log(2.f)};
  EXPECT_EQ(Counts(logits, {.temperature = 1, .top_p = 0.01})[1], 1000);
  EXPECT_EQ(Counts(logits, {.temperature = 1, .top_p = 0.49})[1], 1000);
  const auto two = Counts(logits, {.temperature = 1, .top_p = 0.7});
  EXPECT_EQ(two[2], 0);
  EXPECT_NEAR(two[0], 375, 50);
  EXPECT_GT(Counts(logits, {.temperature = 1, .top_p = 0.9})[2], 100);
}

TEST(SampleTokenTest, WhatCannotBeMeantIsRefused) {
  for (const Sampling& bad :
       {Sampling{.temperature = -1}, Sampling{.temperature = 1, .top_k = -1},
        Sampling{.temperature = 1, .top_p = 0},
        Sampling{.temperature = 1, .top_p = 1.5}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ValidateSampling(bad)));
  }
}

TEST(SampleTokenTest, OutputThatIsNotFiniteIsAnError) {
  Random random(1);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity()}) {
    const std::vector<float> logits = {0.f, bad};
    EXPECT_TRUE(absl::IsInternal(
        SampleToken(logits, {}, {.temperature = 1}, random).status()));
  }
}

TEST(SampleTokenTest, ANumberWithoutATokenIsNeverDrawn) {
  const std::vector<float> logits = {1.f, 9.f, 2.f, 9.f, 1.f};
  const std::vector<bool> is_token = {true, false, true, false, true};
  Random random(9);
  EXPECT_EQ(SampleToken(logits, is_token, {}, random).value(), 2);
  for (const Sampling& sampling :
       {Sampling{.temperature = 1}, Sampling{.temperature = 5, .top_k = 2},
        Sampling{.temperature = 5, .top_p = 0.9}}) {
    for (int i = 0; i < 500; ++i) {
      const int32_t token =
          SampleToken(logits, is_token, sampling, random).value();
      ASSERT_TRUE(is_token[static_cast<size_t>(token)]) << token;
    }
  }
}

}  // namespace
}  // namespace skerry::trainer
