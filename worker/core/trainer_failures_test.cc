#include "worker/core/trainer_failures.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

const absl::Status kNotFinite = absl::InternalError("the loss is not finite");
const absl::Status kKilled = absl::UnavailableError("signal 9");

TEST(TrainerFailuresTest, AnErrorThatRepeatsEndsInABoundedNumberOfTrainers) {
  TrainerFailures failures;
  absl::Duration last;
  int trainers = 1;
  for (;; ++trainers) {
    const auto verdict = failures.OnFailure(kNotFinite, 0, true);
    if (!verdict.restart_after.has_value()) {
      EXPECT_EQ(verdict.reason,
                "the loss is not finite (5 trainers in a row have failed, so "
                "this worker starts no more of them)");
      break;
    }
    EXPECT_GT(*verdict.restart_after, last);
    last = *verdict.restart_after;
    ASSERT_LT(trainers, 100);
  }
  EXPECT_EQ(trainers, 5);
}

// One wrong sample among good ones lets a round end now and then.
TEST(TrainerFailuresTest, AFewRoundsDoNotForgiveWhatTheTrainerSaid) {
  TrainerFailures failures;
  uint64_t rounds = 0;
  int trainers = 0;
  do {
    rounds += 3;
    ASSERT_LT(++trainers, 100);
  } while (
      failures.OnFailure(kNotFinite, rounds, true).restart_after.has_value());
  EXPECT_EQ(trainers, 5);
}

TEST(TrainerFailuresTest, FailuresThatAreFarApartGoOnForEver) {
  TrainerFailures failures;
  for (uint64_t i = 1; i <= 100; ++i) {
    const absl::Status& why = i % 2 == 0 ? kNotFinite : kKilled;
    const auto verdict = failures.OnFailure(why, 20 * i, true);
    ASSERT_TRUE(verdict.restart_after.has_value()) << i;
    EXPECT_EQ(*verdict.restart_after, absl::Milliseconds(100));
  }
}

TEST(TrainerFailuresTest, AKilledTrainerIsForgivenByARoundAndElseBounded) {
  TrainerFailures failures;
  for (uint64_t i = 1; i <= 50; ++i) {
    ASSERT_TRUE(failures.OnFailure(kKilled, i, true).restart_after.has_value());
  }
  absl::Duration waited;
  int trainers = 1;  // the last of those
  while (true) {
    const auto verdict = failures.OnFailure(kKilled, 50, true);
    ASSERT_LT(++trainers, 100);
    if (!verdict.restart_after.has_value()) break;
    waited += *verdict.restart_after;
  }
  EXPECT_EQ(trainers, 10);
  EXPECT_GT(waited, absl::Seconds(30));
}

TEST(TrainerFailuresTest, WhatWouldComeAgainIsNotTriedAgain) {
  TrainerFailures failures;
  const auto verdict = failures.OnFailure(
      absl::DataLossError("the data hold token 300"), 7, true);
  EXPECT_FALSE(verdict.restart_after.has_value());
  EXPECT_EQ(verdict.reason, "the data hold token 300");
}

// The data were moved away: a trainer cannot begin, until they are back.
TEST(TrainerFailuresTest, ATrainerThatCannotBeginIsTriedAgainSlowly) {
  const absl::Status missing = absl::NotFoundError("manifest.json is missing");
  TrainerFailures failures;
  absl::Duration waited;
  int trainers = 0;
  for (; waited < absl::Hours(1); ++trainers) {
    const auto verdict = failures.OnFailure(missing, 7, false);
    EXPECT_TRUE(verdict.unfit);
    ASSERT_TRUE(verdict.restart_after.has_value());
    EXPECT_LE(*verdict.restart_after, absl::Minutes(1));
    waited += *verdict.restart_after;
  }
  EXPECT_LE(trainers, 70);
  // The data were there for a while.
  failures.OnFailure(kKilled, 7, true);
  EXPECT_EQ(failures.OnFailure(missing, 7, false).restart_after,
            absl::Seconds(2));
}

TEST(TrainerFailuresTest, AFreshTrainerThatIsWantedIsNoFailure) {
  TrainerFailures failures;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(failures.OnFailure(absl::CancelledError("values"), 0, true)
                  .restart_after,
              absl::ZeroDuration());
  }
  // It is the first.
  EXPECT_EQ(failures.OnFailure(kKilled, 0, true).restart_after,
            absl::Milliseconds(100));
}

}  // namespace
}  // namespace skerry::worker
