#include "worker/core/round_metrics.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using protocol::Metrics;

TEST(RoundMetricsTest, RunsAreWeightedByTheirSamples) {
  RoundMetrics round;
  round.Add({{"accuracy", 0.5}, {"lr", 1}}, 30);
  round.Add({{"accuracy", 1.0}}, 10);
  EXPECT_EQ(round.Means(), (Metrics{{"accuracy", 0.625}, {"lr", 1}}));
}

TEST(RoundMetricsTest, ARoundHasNoMoreThanStatusMaySay) {
  RoundMetrics round;
  for (size_t i = 0; i < 2 * protocol::kMetricsMax; ++i) {
    round.Add({{absl::StrCat("m", i), 1}}, 1);
  }
  EXPECT_EQ(round.Means().size(), protocol::kMetricsMax);
}

TEST(RoundMetricsTest, AMeanThatIsNotFiniteIsLeftOut) {
  RoundMetrics round;
  round.Add({{"huge", 1e308}, {"lr", 1}}, 1000);
  EXPECT_EQ(round.Means(), (Metrics{{"lr", 1}}));
}

}  // namespace
}  // namespace skerry::worker
