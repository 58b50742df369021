#include "worker/core/trainer_watch.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using ::testing::HasSubstr;

// A trainer as the watch sees it, asked twice a second.
class Watched {
 public:
  explicit Watched(absl::Duration longest_step = absl::ZeroDuration())
      : watch_(options_, now_, longest_step) {}

  TrainerProgress progress;
  bool answers = true;

  // `each` runs before every question. Returns why the trainer was ended, or
  // nothing after `time`.
  template <typename Each>
  std::string For(absl::Duration time, Each each) {
    for (const Instant end = now_ + time; now_ < end;) {
      now_ = now_ + options_.interval;
      each();
      if (answers) watch_.OnProgress(now_, progress);
      const std::string why = watch_.Look(now_);
      if (!why.empty()) return why;
    }
    return "";
  }
  std::string For(absl::Duration time) {
    return For(time, [] {});
  }
  // Steps of `length` seconds, for a minute at least.
  void Train(double length) {
    progress.phase = TrainerPhase::kTraining;
    progress.longest_step = absl::Seconds(length);
    double trained = 0;
    EXPECT_EQ(For(absl::Seconds(60 + 3 * length),
                  [&] {
                    trained += 0.5;
                    progress.steps = static_cast<uint64_t>(trained / length);
                    progress.pieces = progress.steps;
                  }),
              "");
  }
  // Stops it. Returns how long it then lived.
  absl::Duration EndsAfter(absl::Duration most = absl::Hours(3)) {
    const Instant stopped = now_;
    why = For(most);
    return why.empty() ? absl::InfiniteDuration() : now_ - stopped;
  }
  void AnswersAnotherCall() { watch_.OnAnswer(now_); }
  void WorkerSleeps(absl::Duration time) { now_ = now_ + time; }
  std::string Trouble() const { return watch_.Trouble(now_); }
  absl::Duration GroupTimeout() const { return watch_.GroupTimeout(); }

  std::string why;

 private:
  const TrainerWatchOptions options_;
  Instant now_{absl::Seconds(100)};
  TrainerWatch watch_;
};

TEST(TrainerWatchTest, AStoppedTrainerIsEndedWithinTheBar) {
  for (const double step : {0.01, 0.3, 1.2, 2.0, 60.0}) {
    Watched trainer;
    trainer.Train(step);
    trainer.answers = false;
    const absl::Duration bar =
        std::max(absl::Seconds(10), absl::Seconds(8 * step));
    const absl::Duration lived = trainer.EndsAfter();
    EXPECT_LE(lived, bar) << step;
    EXPECT_GE(lived, 0.8 * bar) << step;
    EXPECT_THAT(trainer.why, HasSubstr("has not answered for"));
  }
}

// It answers Describe, trains a few short steps and is stopped, all before the
// first question of the watch.
TEST(TrainerWatchTest, ATrainerThatStopsBeforeTheFirstQuestionIsEndedInTime) {
  Watched described;
  described.answers = false;
  described.AnswersAnotherCall();
  EXPECT_LE(described.EndsAfter(), absl::Seconds(10));
  EXPECT_THAT(described.why, HasSubstr("has not answered for"));

  // A process that has said nothing at all may still be starting.
  Watched starting;
  starting.answers = false;
  EXPECT_GE(starting.EndsAfter(), absl::Minutes(9));
}

TEST(TrainerWatchTest, WorkThatStandsStillEndsTheTrainerWithinTheBar) {
  for (const double step : {0.01, 1.2, 60.0}) {
    Watched trainer;
    trainer.Train(step);
    // A step was under way when it stopped.
    EXPECT_LE(trainer.EndsAfter(),
              std::max(absl::Seconds(10), absl::Seconds(8 * step)))
        << step;
    EXPECT_THAT(trainer.why, HasSubstr("stood still"));
    EXPECT_THAT(trainer.why, HasSubstr("while it trains"));
  }
}

TEST(TrainerWatchTest, PhasesWithoutStepsAreGivenTimeAndAnEnd) {
  struct Case {
    TrainerPhase phase;
    bool trained;
    absl::Duration least;
  };
  for (const Case& one :
       {Case{TrainerPhase::kBuilding, false, absl::Minutes(9)},
        Case{TrainerPhase::kTraining, false, absl::Minutes(9)},
        Case{TrainerPhase::kEvaluating, false, absl::Minutes(9)},
        Case{TrainerPhase::kGenerating, false, absl::Minutes(9)},
        Case{TrainerPhase::kCopying, true, absl::Seconds(50)},
        Case{TrainerPhase::kJoining, true, absl::Seconds(50)}}) {
    Watched trainer;
    if (one.trained) trainer.Train(0.1);
    trainer.progress.phase = one.phase;
    const absl::Duration lived = trainer.EndsAfter();
    EXPECT_GE(lived, one.least);
    EXPECT_LE(lived, absl::Minutes(11));
  }
}

TEST(TrainerWatchTest, PiecesKeepALongPhaseAlive) {
  Watched trainer;
  trainer.progress.phase = TrainerPhase::kBuilding;
  EXPECT_EQ(trainer.For(absl::Hours(2),
                        [&, ticks = 0]() mutable {
                          // A shard in eight minutes.
                          if (++ticks % 960 == 0) ++trainer.progress.pieces;
                        }),
            "");
}

TEST(TrainerWatchTest, AStoppedTrainerIsEndedInEveryPhase) {
  for (const TrainerPhase phase :
       {TrainerPhase::kIdle, TrainerPhase::kBuilding, TrainerPhase::kTraining,
        TrainerPhase::kCopying, TrainerPhase::kJoining,
        TrainerPhase::kEvaluating, TrainerPhase::kGenerating}) {
    Watched trainer;
    trainer.progress.phase = phase;
    EXPECT_EQ(trainer.For(absl::Seconds(5)), "");
    trainer.answers = false;
    EXPECT_LE(trainer.EndsAfter(), absl::Seconds(10));
  }
}

TEST(TrainerWatchTest, AProcessThatNeverAnswersIsEnded) {
  Watched trainer;
  trainer.answers = false;
  EXPECT_LE(trainer.EndsAfter(), absl::Minutes(11));
}

TEST(TrainerWatchTest, AnIdleTrainerLivesForEver) {
  Watched trainer;
  trainer.Train(0.1);
  trainer.progress.phase = TrainerPhase::kIdle;
  EXPECT_EQ(trainer.For(absl::Hours(5)), "");
}

TEST(TrainerWatchTest, WhoWaitsForItsIslandOutlivesWhomItWaitsFor) {
  Watched stuck, waiting;
  stuck.Train(0.5);
  waiting.Train(0.5);
  waiting.progress.waits_for_group = true;
  const absl::Duration ended = stuck.EndsAfter();
  EXPECT_EQ(waiting.For(3 * ended), "");
  EXPECT_GT(waiting.GroupTimeout(), 2 * ended);
  EXPECT_LE(waiting.EndsAfter(), absl::Minutes(10));
}

TEST(TrainerWatchTest, AWorkerThatSleptBlamesNobody) {
  Watched trainer;
  trainer.Train(0.1);
  for (int i = 0; i < 20; ++i) {
    trainer.WorkerSleeps(absl::Minutes(1));
    EXPECT_EQ(trainer.For(absl::Seconds(2), [&] { ++trainer.progress.pieces; }),
              "");
  }
}

TEST(TrainerWatchTest, TroubleIsSeenBeforeTheEnd) {
  Watched trainer;
  trainer.Train(0.1);
  EXPECT_EQ(trainer.Trouble(), "");
  trainer.answers = false;
  EXPECT_EQ(trainer.For(absl::Seconds(4)), "");
  EXPECT_EQ(trainer.Trouble(),
            "the trainer has not answered for 4.0 s while it trains (the "
            "longest step before took 0.10 s); it is ended after 8 s");
}

TEST(TrainerWatchTest, ATrainerWithoutProgressIsWatchedForSilenceAlone) {
  const TrainerWatchOptions options;
  Instant now{absl::Seconds(1)};
  TrainerWatch watch(options, now);
  for (int i = 0; i < 10'000; ++i) {
    now = now + options.interval;
    watch.OnUnknown(now);
    ASSERT_EQ(watch.Look(now), "");
  }
  while (watch.Look(now).empty()) now = now + options.interval;
  SUCCEED();
}

}  // namespace
}  // namespace skerry::worker
