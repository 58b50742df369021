#include "worker/core/inner_schedule.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

TEST(InnerScheduleTest, SavesTakeAHundredthOfTheTime) {
  InnerSchedule schedule;
  schedule.OnTrainer(true);
  EXPECT_FALSE(schedule.IsDue(At(1), 1, 0)) << "nothing was trained";
  schedule.OnTrains();
  EXPECT_TRUE(schedule.IsDue(At(2), 1, 0));
  schedule.OnSaved(At(2), At(3), 1);
  EXPECT_FALSE(schedule.IsDue(At(200), 2, 0)) << "nothing was trained since";
  schedule.OnTrains();
  EXPECT_FALSE(schedule.IsDue(At(101), 2, 0));
  EXPECT_TRUE(schedule.IsDue(At(102), 2, 0));
}

TEST(InnerScheduleTest, CheckpointsAreDueAtOnce) {
  InnerSchedule schedule;
  schedule.OnTrainer(true);
  schedule.OnTrains();
  schedule.OnSaved(At(0), At(10), 9);
  schedule.OnTrains();
  EXPECT_FALSE(schedule.IsDue(At(11), 9, 10));
  EXPECT_TRUE(schedule.IsDue(At(11), 10, 10));
  EXPECT_TRUE(schedule.IsDue(At(11), 13, 10)) << "it has passed one";
  schedule.OnSaved(At(11), At(21), 13);
  schedule.OnTrains();
  EXPECT_FALSE(schedule.IsDue(At(22), 19, 10));
}

TEST(InnerScheduleTest, FailedSavesAreTriedAgainLater) {
  InnerSchedule schedule;
  schedule.OnTrainer(true);
  schedule.OnTrains();
  schedule.OnSaveFailed(At(5));
  EXPECT_FALSE(schedule.IsDue(At(64), 1, 1));
  EXPECT_TRUE(schedule.IsDue(At(65), 1, 1));
}

TEST(InnerScheduleTest, TrainersThatCannotAreNotAsked) {
  InnerSchedule schedule;
  schedule.OnTrainer(false);
  schedule.OnTrains();
  EXPECT_FALSE(schedule.can_save());
  EXPECT_FALSE(schedule.IsDue(At(1000), 10, 1));
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
