#include "worker/core/inner_schedule.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

TEST(InnerScheduleTest, SavesTakeAHundredthOfTheTime) {
  InnerSchedule schedule;
  schedule.OnTrainer(true);
  EXPECT_FALSE(schedule.IsDue(At(1), 1, 0, false)) << "nothing was trained";
  schedule.OnTrains();
  EXPECT_TRUE(schedule.IsDue(At(2), 1, 0, false));
  schedule.OnSaved(At(2), At(3), 1, false);
  EXPECT_FALSE(schedule.IsDue(At(200), 2, 0, false))
      << "nothing was trained since";
  schedule.OnTrains();
  EXPECT_FALSE(schedule.IsDue(At(101), 2, 0, false));
  EXPECT_TRUE(schedule.IsDue(At(102), 2, 0, false));
}

TEST(InnerScheduleTest, CheckpointsAreDueAtOnce) {
  InnerSchedule schedule;
  schedule.OnTrainer(true);
  schedule.OnTrains();
  schedule.OnSaved(At(0), At(10), 9, false);
  schedule.OnTrains();
  EXPECT_FALSE(schedule.IsDue(At(11), 9, 10, false));
  EXPECT_TRUE(schedule.IsDue(At(11), 10, 10, false));
  EXPECT_TRUE(schedule.IsDue(At(11), 13, 10, false)) << "it has passed one";
  schedule.OnSaved(At(11), At(21), 13, false);
  schedule.OnTrains();
  EXPECT_FALSE(schedule.IsDue(At(22), 19, 10, false));
}

// Nothing is trained between the last round and the last state when results
// come a round late.
TEST(InnerScheduleTest, SoIsTheLastStateOfAJobWithCheckpoints) {
  InnerSchedule schedule;
  schedule.OnTrainer(true);
  EXPECT_FALSE(schedule.IsDue(At(0), 11, 10, true)) << "nothing was trained";
  schedule.OnTrains();
  schedule.OnSaved(At(0), At(1), 11, true);
  EXPECT_FALSE(schedule.IsDue(At(2), 12, 10, false));
  EXPECT_FALSE(schedule.IsDue(At(2), 12, 0, true)) << "nobody would take it";
  EXPECT_TRUE(schedule.IsDue(At(2), 12, 10, true));
  schedule.OnSaved(At(2), At(3), 12, true);
  EXPECT_FALSE(schedule.IsDue(At(4), 12, 10, true)) << "it is there";
}

TEST(InnerScheduleTest, WhatACheckpointTakesIsLeftAloneForAWhile) {
  InnerSchedule schedule;
  schedule.OnTrainer(true);
  schedule.OnTrains();
  schedule.OnSaved(At(0), At(0.001), 10, true);
  schedule.OnTrains();
  EXPECT_FALSE(schedule.IsDue(At(10), 11, 10, false));
  EXPECT_TRUE(schedule.IsDue(At(10.1), 11, 10, false));
  // The disk would be busy with it when the checkpoint's is due.
  EXPECT_FALSE(schedule.IsDue(At(10.1), 19, 10, false));
}

TEST(InnerScheduleTest, AStateMayComeUntilTheTrainerHasPassedIt) {
  InnerSchedule schedule;
  schedule.OnTrainer(true);
  EXPECT_FALSE(schedule.MayCome(10)) << "it has none yet";
  schedule.OnTrains();
  EXPECT_TRUE(schedule.MayCome(10));
  schedule.OnPassed(9);
  EXPECT_TRUE(schedule.MayCome(10));
  schedule.OnSaved(At(0), At(1), 10, true);
  EXPECT_FALSE(schedule.MayCome(10));
  // Another trainer begins with what it takes over.
  schedule.OnTrainer(true);
  EXPECT_FALSE(schedule.MayCome(20));
  schedule.OnLoaded(true);
  EXPECT_TRUE(schedule.MayCome(20));
  schedule.OnTrainer(false);
  schedule.OnTrains();
  EXPECT_FALSE(schedule.MayCome(20));
}

TEST(InnerScheduleTest, FailedSavesAreTriedAgainLater) {
  InnerSchedule schedule;
  schedule.OnTrainer(true);
  schedule.OnTrains();
  schedule.OnSaveFailed(At(5));
  EXPECT_FALSE(schedule.IsDue(At(64), 1, 1, false));
  EXPECT_TRUE(schedule.IsDue(At(65), 1, 1, false));
}

TEST(InnerScheduleTest, TrainersThatCannotAreNotAsked) {
  InnerSchedule schedule;
  schedule.OnTrainer(false);
  schedule.OnTrains();
  EXPECT_FALSE(schedule.can_save());
  EXPECT_FALSE(schedule.IsDue(At(1000), 10, 1, false));
}

TEST(InnerScheduleTest, AStateWithWhichTwoTrainersFailIsGivenUp) {
  InnerSchedule schedule;
  for (int trainer = 0; trainer < 2; ++trainer) {
    schedule.OnTrainer(true);
    EXPECT_TRUE(schedule.decides());
    EXPECT_STREQ(schedule.Distrust(), "");
    schedule.OnLoaded(true);
    EXPECT_FALSE(schedule.decides());
    schedule.OnTrainerFailed();
  }
  EXPECT_STRNE(schedule.Distrust(), "");
  // One that begins cold and comes through a round makes a better one.
  schedule.OnTrainer(true);
  schedule.OnLoaded(false);
  schedule.OnRound();
  schedule.OnTrainerFailed();
  EXPECT_STREQ(schedule.Distrust(), "");
}

TEST(InnerScheduleTest, TrainersThatFailAfterARoundSayNothing) {
  InnerSchedule schedule;
  for (int trainer = 0; trainer < 5; ++trainer) {
    schedule.OnTrainer(true);
    schedule.OnLoaded(true);
    schedule.OnRound();
    schedule.OnTrainerFailed();
  }
  EXPECT_STREQ(schedule.Distrust(), "");
}

}  // namespace
}  // namespace skerry::worker
