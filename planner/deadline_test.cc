#include "planner/deadline.h"

#include <cmath>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

constexpr absl::Duration kSecond = absl::Seconds(1);

TEST(DeadlineTest, PredictionIsBytesOverRateAndTwoDelays) {
  EXPECT_EQ(PredictExchange(25e6, 25e6, absl::Milliseconds(40)),
            absl::Milliseconds(1080));
}

TEST(DeadlineTest, UntilItHasLearnedItAssumesTheDeclaredSlowdown) {
  DeadlineEstimator estimator({.lease = absl::Minutes(1)});
  EXPECT_EQ(estimator.Estimate(kSecond, 0).duration, absl::Milliseconds(8250));
  for (int i = 0; i < 5; ++i) estimator.Observe(kSecond, kSecond * 1.5);
  EXPECT_EQ(estimator.Estimate(kSecond, 0).duration, absl::Milliseconds(3250));
  // What was learned scales with what is predicted.
  EXPECT_EQ(estimator.Estimate(2 * kSecond, 0).duration,
            absl::Milliseconds(6250));
}

TEST(DeadlineTest, QuantileIsThatOfASortedList) {
  DeadlineEstimator estimator({.quantile = 0.9,
                               .margin = 1.0,
                               .floor = absl::ZeroDuration(),
                               .window = 10,
                               .lease = absl::Hours(1)});
  for (int i = 20; i > 0; --i) estimator.Observe(kSecond, i * kSecond);
  // The window holds 10..1; nine of ten do not exceed 9.
  EXPECT_EQ(estimator.Estimate(kSecond, 0).duration, 9 * kSecond);
}

TEST(DeadlineTest, RetriesDoubleUpToTheLease) {
  DeadlineEstimator estimator({.floor = absl::ZeroDuration(),
                               .slowdown_before_learning = 1.0,
                               .lease = absl::Seconds(10)});
  EXPECT_EQ(estimator.Estimate(kSecond, 0).duration, 2 * kSecond);
  EXPECT_EQ(estimator.Estimate(kSecond, 1).duration, 4 * kSecond);
  EXPECT_EQ(estimator.Estimate(kSecond, 2).duration, 8 * kSecond);
  const Deadline capped = estimator.Estimate(kSecond, 3);
  EXPECT_EQ(capped.duration, absl::Seconds(10));
  EXPECT_NE(capped.reason.find("lease"), std::string::npos);
  EXPECT_EQ(estimator.Estimate(kSecond, 1 << 30).duration, absl::Seconds(10));
}

TEST(DeadlineTest, AZeroPredictionStillLeavesTheFloor) {
  DeadlineEstimator estimator({});
  estimator.Observe(absl::ZeroDuration(), kSecond);
  EXPECT_EQ(estimator.Estimate(absl::ZeroDuration(), 0).duration,
            absl::Milliseconds(250));
}

// Exchanges under load vary; the deadline may cut almost none of them, and
// still has to be within reach of what a stall costs.
TEST(DeadlineTest, FewCleanExchangesAreCutAndAStallIsCutSoon) {
  Random random(17);
  DeadlineEstimator estimator({.lease = absl::Minutes(10)});
  int cut = 0;
  for (int i = 0; i < 10000; ++i) {
    // About normal in the logarithm, s.d. 0.2: the sum of 12 uniforms.
    double normal = -6.0;
    for (int k = 0; k < 12; ++k) normal += random.Uniform();
    const absl::Duration predicted = absl::Seconds(0.5 + random.Uniform());
    const absl::Duration actual = predicted * (1.05 * std::exp(0.2 * normal));
    const Deadline deadline = estimator.Estimate(predicted, 0);
    if (actual > deadline.duration) ++cut;
    if (i > 100) {
      EXPECT_LT(deadline.duration, 4 * predicted);
    }
    estimator.Observe(predicted, actual);
  }
  EXPECT_LE(cut, 1);
}

TEST(DeadlineTest, OptionsOutsideTheirDomainAreRefused) {
  EXPECT_TRUE(ValidateDeadlineOptions({}).ok());
  EXPECT_FALSE(ValidateDeadlineOptions({.quantile = 0.0}).ok());
  EXPECT_FALSE(ValidateDeadlineOptions({.margin = 0.5}).ok());
  EXPECT_FALSE(ValidateDeadlineOptions({.floor = -kSecond}).ok());
  EXPECT_FALSE(ValidateDeadlineOptions({.slowdown_before_learning = 0}).ok());
  EXPECT_FALSE(ValidateDeadlineOptions({.window = 2}).ok());
  EXPECT_FALSE(ValidateDeadlineOptions({.lease = absl::ZeroDuration()}).ok());
}

}  // namespace
}  // namespace skerry::planner
