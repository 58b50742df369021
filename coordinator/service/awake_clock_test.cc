#include "coordinator/service/awake_clock.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

TEST(AwakeClockTest, GoesWithTheLoopWhileThatTurns) {
  AwakeClock clock(absl::Seconds(10), At(5));
  EXPECT_EQ(clock.interval(), absl::Seconds(1));
  for (double now = 5; now < 60; now += 2.5) {
    EXPECT_EQ(clock.Turn(At(now)), absl::ZeroDuration());
    EXPECT_EQ(clock.now(), At(now));
    EXPECT_EQ(clock.ToLoop(At(now)), At(now));
  }
}

TEST(AwakeClockTest, StandsStillWhileTheProcessSleeps) {
  AwakeClock clock(absl::Seconds(10), At(5));
  EXPECT_EQ(clock.Turn(At(6)), absl::ZeroDuration());
  EXPECT_EQ(clock.Turn(At(31)), absl::Seconds(25));
  EXPECT_EQ(clock.now(), At(6));
  EXPECT_EQ(clock.Turn(At(32)), absl::ZeroDuration());
  EXPECT_EQ(clock.now(), At(7));
  EXPECT_EQ(clock.ToLoop(At(9)), At(34));
}

}  // namespace
}  // namespace skerry::coordinator
