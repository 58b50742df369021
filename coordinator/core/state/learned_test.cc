#include "coordinator/core/state/learned.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

TEST(LearnedDurationTest, SaysNothingBeforeItHasSeenEnough) {
  LearnedDuration learned(4, 2);
  learned.Observe(absl::Seconds(1));
  EXPECT_FALSE(learned.Quantile(0.5).has_value());
  learned.Observe(absl::Seconds(2));
  EXPECT_EQ(learned.Quantile(0.5), absl::Seconds(1));
  EXPECT_EQ(learned.Quantile(1.0), absl::Seconds(2));
}

TEST(LearnedDurationTest, OldObservationsLeaveTheWindow) {
  LearnedDuration learned(2, 1);
  learned.Observe(absl::Seconds(100));
  learned.Observe(absl::Seconds(1));
  learned.Observe(absl::Seconds(2));
  EXPECT_EQ(learned.Quantile(1.0), absl::Seconds(2));
}

TEST(LearnedDurationTest, QuantilesCountObservationsFromBelow) {
  LearnedDuration learned(10, 1);
  for (int i = 10; i >= 1; --i) learned.Observe(absl::Seconds(i));
  EXPECT_EQ(learned.Quantile(0.9), absl::Seconds(9));
  EXPECT_EQ(learned.Quantile(0.91), absl::Seconds(10));
  EXPECT_EQ(learned.Quantile(0.01), absl::Seconds(1));
}

TEST(LearnedDurationTest, TheUpperBoundWins) {
  EXPECT_EQ(ClampDuration(absl::Seconds(5), absl::Seconds(9), absl::Seconds(7)),
            absl::Seconds(7));
}

}  // namespace
}  // namespace skerry::coordinator
