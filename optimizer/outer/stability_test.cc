// The laws of docs/outer_loop.md that say which delayed loops settle.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "optimizer/outer/outer.h"

namespace skerry::optimizer {
namespace {

constexpr uint64_t kSeed = 7;

OuterOptions Delayed(double a, double b, MergeRule merge) {
  OuterOptions options;
  options.learning_rate = a;
  options.momentum = b;
  options.delay_rounds = 1;
  options.merge = merge;
  options.undelayed_rounds_fraction = 0.0;
  return options;
}

// Runs x_{t+1} = fold of a one-round-old pseudo-gradient c * x and says whether
// it died out.
bool DelayedRecursionConverges(const OuterOptions& options, double c) {
  std::vector<float> x = {1.0f};
  std::vector<float> m(HasMomentum(options) ? 1 : 0);
  std::vector<float> pending;
  const OuterScalars scalars = ScalarsAt(options, 0, 1);
  for (int t = 0; t < 6000; ++t) {
    std::vector<float> delta = {static_cast<float>(c) * x[0]};
    std::swap(delta, pending);
    if (!delta.empty()) OuterStep(options, scalars, delta, x, m);
    if (!(std::fabs(x[0]) < 1e12f)) return false;
  }
  return std::fabs(x[0]) < 1e-6f;
}

double Gain(const OuterOptions& options, double c) {
  const double b = options.momentum;
  const double k = options.learning_rate * c / options.penalty;
  return options.nesterov ? b + k * (1 - b * b) + k * k * b * b : b + k;
}

// T5, plain and Nesterov: the law holds on both sides of its boundary, and
// ValidateOuter draws the line where full contraction does.
TEST(StabilityTest, TheLawOfReplacingSeparatesConvergenceFromDivergence) {
  Random random(kSeed);
  int stable = 0;
  int unstable = 0;
  for (int trial = 0; trial < 600; ++trial) {
    OuterOptions options =
        Delayed(0.05 + 1.9 * random.Uniform(),
                random.Below(3) == 0 ? 0.0 : 0.9 * random.Uniform(),
                MergeRule::kReplace);
    options.nesterov = options.momentum > 0.0 && random.Below(2) == 0;
    options.penalty_rule = StalenessPenalty::kConstant;
    options.penalty = 1.0 + random.Uniform();
    for (const double c : {0.2 + 0.8 * random.Uniform(), 1.0}) {
      const double gain = Gain(options, c);
      // Too near the boundary for 6,000 rounds to tell.
      if (std::fabs(gain - 1.0) < 0.02) continue;
      ASSERT_EQ(DelayedRecursionConverges(options, c), gain < 1.0)
          << "a " << options.learning_rate << " b " << options.momentum << " L "
          << options.penalty << " c " << c << " nesterov " << options.nesterov;
      ++(gain < 1.0 ? stable : unstable);
    }
    EXPECT_EQ(ValidateOuter(options).ok(), Gain(options, 1.0) < 1.0);
  }
  EXPECT_GT(stable, 200);
  EXPECT_GT(unstable, 200);
}

// The law of docs/outer_loop.md for one replica on a quadratic, on both sides
// of its boundary. The rates above 1 are refused in jobs and tell here that the
// law's other side is not empty.
TEST(StabilityTest, TheLawOfALateMergeSeparatesConvergenceFromDivergence) {
  Random random(kSeed);
  int stable = 0;
  int unstable = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    OuterOptions options = Delayed(1.0, 0.0, MergeRule::kOwnShare);
    options.own_share = random.Uniform();
    options.learning_rate = 0.1 + 2.4 * random.Uniform();
    const double share = *options.own_share;
    const double c = 0.05 + 0.95 * random.Uniform();
    const double product = (options.learning_rate - share) * c;
    const double sum = 1 - share * c;
    const double margin =
        std::min(1 - std::fabs(product), 1 + product - std::fabs(sum));
    if (std::fabs(margin) < 0.02) continue;
    std::vector<float> anchor = {1.0f};
    std::vector<float> live = {1.0f};
    std::vector<float> start = live;
    std::vector<float> pending;
    for (int t = 0; t < 4000 && std::fabs(live[0]) < 1e12f; ++t) {
      live[0] -= static_cast<float>(c) * live[0];
      std::vector<float> delta = {start[0] - live[0]};
      std::swap(delta, pending);
      if (!delta.empty()) {
        OuterStep(options, {static_cast<float>(options.learning_rate), 1.0f},
                  delta, anchor, {});
      }
      MergeLive(options, 1, static_cast<float>(share), anchor, start, live);
      start = live;
    }
    ASSERT_EQ(std::fabs(live[0]) < 1e-4f, margin > 0)
        << "a " << options.learning_rate << " share " << share << " c " << c;
    ++(margin > 0 ? stable : unstable);
  }
  EXPECT_GT(stable, 500);
  EXPECT_GT(unstable, 100);
}

// One replica on a quadratic that pulls to `target` under a convex mix, from
// the anchor: its live value after `rounds`.
double Mixed(double mix, double c, double target, int rounds) {
  OuterOptions options = Delayed(mix, 0.0, MergeRule::kConvexMix);
  options.mix = mix;
  std::vector<float> anchor = {1.0f};
  std::vector<float> live = anchor;
  std::vector<float> pending;
  for (int t = 0; t < rounds; ++t) {
    const std::vector<float> start = live;
    live[0] -= static_cast<float>(c * (live[0] - target));
    std::vector<float> delta = {start[0] - live[0]};
    std::swap(delta, pending);
    if (!delta.empty()) {
      OuterStep(options, {static_cast<float>(mix), 1.0f}, delta, anchor, {});
    }
    MergeLive(options, 1, 1.0f, anchor, start, live);
  }
  return live[0];
}

// The law of docs/outer_loop.md: a round contracts by 1 - mix c, so that no mix
// in its bounds diverges, and at 0 nothing is learnt.
TEST(StabilityTest, TheLawOfAConvexMixSaysHowFarARoundComes) {
  Random random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    const double mix = kMixMin + (kMixMax - kMixMin) * random.Uniform();
    const double c = 0.05 + 0.95 * random.Uniform();
    for (const int rounds : {1, 2, 5, 20}) {
      ASSERT_NEAR(Mixed(mix, c, 0.0, rounds), std::pow(1 - mix * c, rounds),
                  2e-5)
          << "mix " << mix << " c " << c << " rounds " << rounds;
    }
    EXPECT_NEAR(Mixed(mix, c, 0.0, 20'000), 0.0, 1e-4);
  }
  EXPECT_EQ(Mixed(0.0, 0.5, 0.0, 100), 1.0);
}

// Two replicas that are pulled apart: the other bound's reason.
TEST(StabilityTest, WithAMixOfOneReplicasNeverComeTogether) {
  for (const double mix : {kMixMax, 1.0}) {
    OuterOptions options = Delayed(mix, 0.0, MergeRule::kConvexMix);
    options.mix = mix;
    std::vector<float> anchor = {0.0f};
    float live[2] = {1.0f, -1.0f};
    for (int t = 0; t < 500; ++t) {
      for (float& one : live) {
        MergeLive(options, 1, 1.0f, anchor, {&one, 1}, {&one, 1});
      }
    }
    EXPECT_EQ(live[0] == 1.0f && live[1] == -1.0f, mix == 1.0) << mix;
    EXPECT_EQ(live[0] - live[1] < 1e-6f, mix < 1.0) << mix;
  }
}

}  // namespace
}  // namespace skerry::optimizer
