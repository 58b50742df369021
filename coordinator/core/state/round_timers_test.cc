#include "coordinator/core/state/round_timers.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

TEST(RoundTimersTest, AnUnknownExchangeHasAWholeLease) {
  RoundTimers timers({});
  timers.OnOpened(1, {}, At(0));
  EXPECT_EQ(timers.Deadline(), At(10));
}

TEST(RoundTimersTest, DeadlinesAreLearnedDoubleAndStayWithinALease) {
  RoundTimers timers({});
  for (int i = 0; i < 8; ++i) {
    timers.OnOpened(1, {}, At(i));
    timers.OnCommitted(At(i + 0.5));
  }
  timers.OnOpened(1, {}, At(20));
  EXPECT_EQ(timers.Deadline(), At(20 + 1.75));
  timers.OnOpened(2, {}, At(20));
  EXPECT_EQ(timers.Deadline(), At(20 + 3.5));
  timers.OnOpened(9, {}, At(20));
  EXPECT_EQ(timers.Deadline(), At(30));
}

TEST(RoundTimersTest, AnExchangeOverSlowerLinksHasMoreTime) {
  RoundTimers timers({});
  timers.OnOpened(1, absl::Seconds(1), At(0));
  EXPECT_EQ(timers.Deadline(), At(10));
  for (int i = 0; i < 8; ++i) {
    timers.OnOpened(1, absl::Seconds(0.4), At(i));
    EXPECT_EQ(timers.OnCommitted(At(i + 0.5)), absl::Seconds(0.5));
  }
  // Links promise less than exchanges take.
  timers.OnOpened(1, absl::Seconds(0.4), At(20));
  EXPECT_EQ(timers.Deadline(), At(20 + 1.75));
  timers.OnOpened(1, absl::Seconds(2), At(20));
  EXPECT_EQ(timers.Deadline(), At(20 + 6.25));
}

// Rounds of so many seconds, each seen once it has ended.
void SeeRounds(RoundTimers& timers, double round_s, double compute_s) {
  for (uint64_t round = 1; round <= 5; ++round) {
    timers.OnReady(Life(1), Round(round), absl::Seconds(compute_s),
                   At(round_s * round));
  }
}

TEST(RoundTimersTest, AnExchangeMayTakeLongerThanALease) {
  RoundTimers timers({});
  SeeRounds(timers, 60, 60);
  timers.OnOpened(1, absl::Seconds(40), At(300));
  EXPECT_EQ(timers.Deadline(), At(300 + 120.25));
  // Nothing doubles beyond a lease.
  timers.OnOpened(2, absl::Seconds(40), At(300));
  EXPECT_EQ(timers.Deadline(), At(300 + 120.25));
  timers.OnOpened(1, absl::Seconds(200), At(300));
  EXPECT_EQ(timers.Deadline(), At(300 + 240));
  for (int i = 0; i < 8; ++i) {
    timers.OnOpened(1, {}, At(100.0 * i));
    timers.OnCommitted(At(100.0 * i + 50));
  }
  timers.OnOpened(1, {}, At(1000));
  EXPECT_EQ(timers.Deadline(), At(1000 + 150.25));
}

TEST(RoundTimersTest, NobodyWaitsForAnExchangeOfMoreThanFourRounds) {
  RoundTimers timers({});
  SeeRounds(timers, 60, 60);
  timers.OnOpened(1, absl::Seconds(241), At(300));
  EXPECT_EQ(timers.Deadline(), At(310));
}

TEST(RoundTimersTest, AttemptsThatHangGiveTheNextOnesNoMoreTime) {
  RoundTimers timers({});
  // Inner steps take 2 s. The rest of a round is the wait for its exchange.
  SeeRounds(timers, 60, 2);
  timers.OnOpened(1, absl::Seconds(5), At(300));
  EXPECT_EQ(timers.Deadline(), At(310));
}

TEST(RoundTimersTest, NoTrainerMakesARoundLongerThanItWas) {
  RoundTimers timers({});
  SeeRounds(timers, 60, 1e9);
  timers.OnOpened(1, absl::Seconds(200), At(300));
  EXPECT_EQ(timers.Deadline(), At(300 + 240));
}

TEST(RoundTimersTest, AFragmentHasEveryFewRounds) {
  RoundTimers timers({});
  for (uint64_t round = 3; round <= 15; round += 3) {
    timers.OnReady(Life(1), Round(round), absl::Seconds(round == 3 ? 6 : 18),
                   At(20.0 * round));
  }
  timers.OnOpened(1, absl::Seconds(8), At(300));
  EXPECT_EQ(timers.Deadline(), At(300 + 24));
  timers.OnClosed();
  timers.Window(true, false, At(400));
  EXPECT_FALSE(timers.MaxWaitOver(At(409.9)));
  EXPECT_TRUE(timers.MaxWaitOver(At(410)));
}

TEST(RoundTimersTest, WithoutATrainersWordTenLeasesAreTheLongest) {
  RoundTimers timers({});
  timers.OnOpened(1, absl::Seconds(30), At(0));
  EXPECT_EQ(timers.Deadline(), At(90.25));
  timers.OnOpened(1, absl::Seconds(90), At(0));
  EXPECT_EQ(timers.Deadline(), At(100));
  timers.OnOpened(1, absl::Seconds(101), At(0));
  EXPECT_EQ(timers.Deadline(), At(10));
}

TEST(RoundTimersTest, ADeadlineMovesWhenTheLinksTurnOutToBeSlow) {
  RoundTimers timers({});
  timers.OnOpened(1, {}, At(0));
  EXPECT_FALSE(timers.Reconsider(1, absl::Seconds(30), At(9)));
  EXPECT_TRUE(timers.Reconsider(1, absl::Seconds(30), At(10)));
  EXPECT_EQ(timers.Deadline(), At(90.25));
  EXPECT_FALSE(timers.Reconsider(1, absl::Seconds(30), At(90.25)));
  // It moves again, and not for ever.
  EXPECT_TRUE(timers.Reconsider(1, absl::Seconds(60), At(90.25)));
  EXPECT_EQ(timers.Deadline(), At(100));
  EXPECT_FALSE(timers.Reconsider(1, absl::Seconds(90), At(100)));
}

TEST(RoundTimersTest, ADeadlineThatAMemberInTroubleHasBroughtStands) {
  RoundTimers timers({});
  timers.OnOpened(1, {}, At(0));
  timers.Trouble({ReplicaId(2)}, At(1));
  EXPECT_EQ(timers.Deadline(), At(1.15));
  EXPECT_FALSE(timers.Reconsider(1, absl::Seconds(30), At(1.15)));
}

TEST(RoundTimersTest, LongRoundsAreWaitedForByHalf) {
  RoundTimers timers({});
  SeeRounds(timers, 60, 60);
  timers.Window(true, false, At(300));
  EXPECT_FALSE(timers.MaxWaitOver(At(329.9)));
  EXPECT_TRUE(timers.MaxWaitOver(At(330)));
}

TEST(RoundTimersTest, RoundsOfLessThanTwoLeasesAreWaitedForByALease) {
  RoundTimers timers({});
  SeeRounds(timers, 15, 15);
  timers.Window(true, false, At(80));
  EXPECT_FALSE(timers.MaxWaitOver(At(89.9)));
  EXPECT_TRUE(timers.MaxWaitOver(At(90)));
}

TEST(RoundTimersTest, AMemberInTroubleHasTheReconnectAllowanceOnce) {
  RoundTimers timers({});
  timers.OnOpened(1, {}, At(0));
  timers.Trouble({ReplicaId(2)}, At(1));
  timers.Trouble({ReplicaId(2)}, At(1.1));
  EXPECT_EQ(timers.Deadline(), At(1.15));
  timers.Trouble({}, At(1.12));
  EXPECT_EQ(timers.Deadline(), At(10));
}

TEST(RoundTimersTest, TheGraceStartsWithTheQuorum) {
  RoundTimers timers({});
  timers.Window(true, false, At(0));
  EXPECT_FALSE(timers.GraceOver(At(100)));
  EXPECT_TRUE(timers.MaxWaitOver(At(10)));
  timers.Window(true, true, At(1));
  EXPECT_FALSE(timers.GraceOver(At(10.9)));
  EXPECT_TRUE(timers.GraceOver(At(11)));
}

TEST(RoundTimersTest, TheLongestWaitIsTwoRounds) {
  RoundTimers timers({});
  SeeRounds(timers, 1, 1);
  timers.Window(true, false, At(20));
  EXPECT_FALSE(timers.MaxWaitOver(At(21.9)));
  EXPECT_TRUE(timers.MaxWaitOver(At(22)));
}

TEST(RoundTimersTest, WhatHasBeenLookedAtIsNotDueAgain) {
  RoundTimers timers({});
  timers.OnOpened(1, {}, At(0));
  Earliest before(At(5));
  timers.Collect(true, before);
  EXPECT_EQ(before.found(), At(10));
  Earliest after(At(10));
  timers.Collect(true, after);
  EXPECT_FALSE(after.found().has_value());
}

}  // namespace
}  // namespace skerry::coordinator
