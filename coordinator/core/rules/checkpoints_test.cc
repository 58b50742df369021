#include "coordinator/core/rules/checkpoints.h"

#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/rules/job_rules.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/retention.h"
#include "coordinator/core/state/job_snapshot.h"
#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using ::testing::ElementsAre;

job::JobSpec SavedJob(uint64_t samples) {
  job::JobSpec spec = job::SmallJob("bench", samples);
  spec.checkpoint = job::JobSpec::Checkpoints{"/saved", 2, 2};
  return spec;
}

class CheckpointsTest : public testing::Test {
 protected:
  CheckpointsTest() : CheckpointsTest(1000, {"w0", "w1"}) {}
  CheckpointsTest(uint64_t samples, std::vector<std::string> names)
      : bench_(SavedJob(samples)), names_(std::move(names)) {
    for (const std::string& name : names_) bench_.AddReplica(name, {name});
  }
  // One sequence more, of which all store a base.
  void Commit() {
    const uint64_t done = bench_.job.fragments[0].newest().value();
    for (const std::string& name : names_) {
      data::RangeSet leased =
          bench_.job.ledger.LeasedTo(bench_.Facts(name).life);
      bench_.Offer(name, done + 1, done, leased.TakeFirst(8).ranges().front());
    }
    DecideExchange(bench_.job, bench_.decider());
    for (const std::string& name : names_) bench_.Report(name, 7);
    DecideExchange(bench_.job, bench_.decider());
    ASSERT_EQ(bench_.job.fragments[0].newest().value(), done + 1);
    for (const std::string& name : names_) {
      FragmentFacts& facts = bench_.Fragment(name);
      facts.ready.reset();
      facts.applied = Sequence(done + 1);
      facts.bases.push_back(
          {Sequence(done + 1), 0, std::vector<uint64_t>(8, done)});
      const Life life = bench_.Facts(name).life;
      const data::RangeSet picked = bench_.job.ledger.Pick(life, 8);
      bench_.Emit(Granted{bench_.job.id, life, picked});
    }
  }
  void Decide() { DecideCheckpoints(bench_.job, bench_.decider()); }
  void Say(const std::string& worker, protocol::CheckpointFact fact) {
    bench_.Facts(worker).checkpoint = std::move(fact);
    TakeCheckpoint(bench_.job, bench_.decider(), worker, bench_.Facts(worker));
  }
  void SayDone(uint64_t sequence) {
    Say(bench_.job.saving->worker, {Sequence(sequence), "abc", 100, ""});
  }
  std::string Saver() const {
    return bench_.job.saving.has_value() ? bench_.job.saving->worker : "";
  }
  // The worker's newest Status; null: it does not name the job.
  void Hear(const std::string& worker, const JobFacts* facts) {
    HearSeat(bench_.job, worker,
             bench_.workers.FindCurrent(worker)->incarnation, facts,
             bench_.options);
  }
  void Lose(const std::string& name) {
    LoseWorker(bench_.job, bench_.decider(), name, "gone");
    bench_.Emit(WorkerLeft{name, bench_.workers.FindCurrent(name)->incarnation,
                           "gone"});
  }

  JobBench bench_;
  const std::vector<std::string> names_;
};

TEST_F(CheckpointsTest, AStateIsSavedEverySoManySequences) {
  Commit();
  Decide();
  EXPECT_EQ(Saver(), "");
  Commit();
  Decide();
  ASSERT_NE(Saver(), "");
  const auto order = CheckpointOrderFor(bench_.job, Saver());
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->sequence, Sequence(2));
  EXPECT_EQ(order->samples_committed, 32u);
  EXPECT_EQ(order->pieces.size(), 8u);
  EXPECT_THAT(order->consumed.ranges(), ElementsAre(data::SampleRange{0, 32}));
  EXPECT_FALSE(CheckpointOrderFor(bench_.job, Saver() == "w0" ? "w1" : "w0")
                   .has_value());
  SayDone(2);
  EXPECT_EQ(Saver(), "");
  ASSERT_EQ(bench_.job.checkpoints.size(), 1u);
  EXPECT_EQ(bench_.job.checkpoints[0].sha256, "abc");
  Commit();
  Decide();
  EXPECT_EQ(Saver(), "");
}

TEST_F(CheckpointsTest, WorkersTakeTurns) {
  std::string savers;
  for (int i = 0; i < 4; ++i) {
    Commit();
    Commit();
    Decide();
    savers += Saver();
    SayDone(2 * (i + 1));
  }
  EXPECT_EQ(savers, "w1w0w1w0");
}

TEST_F(CheckpointsTest, OnlyTheNewestAreRemembered) {
  for (int i = 0; i < 3; ++i) {
    Commit();
    Commit();
    Decide();
    SayDone(2 * (i + 1));
  }
  ASSERT_EQ(bench_.job.checkpoints.size(), 2u);
  EXPECT_EQ(bench_.job.checkpoints[0].sequence, Sequence(4));
}

TEST_F(CheckpointsTest, WhatIsBeingSavedIsKept) {
  Commit();
  Commit();
  Decide();
  ASSERT_NE(Saver(), "");
  Commit();
  EXPECT_EQ(KeepFrom(bench_.job, bench_.workers, bench_.options, FragmentId(0)),
            Sequence(2));
  SayDone(2);
  EXPECT_EQ(KeepFrom(bench_.job, bench_.workers, bench_.options, FragmentId(0)),
            Sequence(3));
}

// Whoever saves may remove it, and die before anybody has heard of the new one.
TEST_F(CheckpointsTest, TheNewestThatIsKnownStaysWhileAnotherIsSaved) {
  Commit();
  Commit();
  Decide();
  EXPECT_THAT(bench_.job.saving->order.pinned, ElementsAre());
  SayDone(2);
  Commit();
  Commit();
  Decide();
  ASSERT_TRUE(bench_.job.saving.has_value());
  EXPECT_THAT(bench_.job.saving->order.pinned, ElementsAre(Sequence(2)));
}

TEST_F(CheckpointsTest, ALostSaverIsReplacedAtOnce) {
  Commit();
  Commit();
  Decide();
  const std::string first = Saver();
  Lose(first);
  Decide();
  EXPECT_NE(Saver(), first);
  EXPECT_NE(Saver(), "");
  ASSERT_EQ(bench_.Decided<Checkpointed>().size(), 1u);
  EXPECT_EQ(bench_.Decided<Checkpointed>()[0].error, "it was lost meanwhile");
  EXPECT_TRUE(bench_.job.checkpoints.empty());
}

// Its place was given to another worker, and orders do not name the job to it
// any more. It learned that before it heard that it should save.
TEST_F(CheckpointsTest, ASaverThatHasLeftTheJobIsReplacedAtOnce) {
  Commit();
  Commit();
  Decide();
  const std::string first = Saver();
  Hear(first, nullptr);
  Decide();
  EXPECT_NE(Saver(), first);
  EXPECT_NE(Saver(), "");
  ASSERT_EQ(bench_.Decided<Checkpointed>().size(), 1u);
  EXPECT_EQ(bench_.Decided<Checkpointed>()[0].error, "it was lost meanwhile");
}

TEST_F(CheckpointsTest, ASaverThatFailsBeforeItBeginsIsReplaced) {
  Commit();
  Commit();
  Decide();
  const std::string first = Saver();
  JobFacts facts = bench_.Facts(first);
  facts.state = protocol::SeatState::kFailed;
  facts.error = "no trainer starts";
  Hear(first, &facts);
  Decide();
  EXPECT_NE(Saver(), first);
  EXPECT_NE(Saver(), "");
}

TEST_F(CheckpointsTest, ASaverThatFailsWhileItWritesGoesOn) {
  Commit();
  Commit();
  Decide();
  const std::string first = Saver();
  Say(first, {Sequence(2), "", 0, ""});
  JobFacts facts = bench_.Facts(first);
  facts.state = protocol::SeatState::kFailed;
  facts.error = "no trainer starts";
  Hear(first, &facts);
  Decide();
  EXPECT_EQ(Saver(), first);
  SayDone(2);
  EXPECT_EQ(bench_.job.checkpoints.size(), 1u);
}

// Its seat was made anew. A former process of the coordinator gave the order,
// so the present one has no pieces to name to it.
TEST_F(CheckpointsTest, ASaverThatForgetsWhatItSavesIsReplaced) {
  Commit();
  Commit();
  bench_.job.save_not_before = bench_.now + bench_.options.lease;
  Say("w1", {Sequence(2), "", 0, ""});
  ASSERT_TRUE(CheckpointOrderFor(bench_.job, "w1")->pieces.empty());
  Decide();
  ASSERT_EQ(Saver(), "w1");
  JobFacts facts = bench_.Facts("w1");
  facts.checkpoint.reset();
  Hear("w1", &facts);
  Decide();
  ASSERT_EQ(bench_.Decided<Checkpointed>().size(), 1u);
  EXPECT_EQ(bench_.Decided<Checkpointed>()[0].error, "it was lost meanwhile");
  ASSERT_NE(Saver(), "");
  EXPECT_EQ(CheckpointOrderFor(bench_.job, Saver())->pieces.size(), 8u);
}

// It still says which state it saved last.
TEST_F(CheckpointsTest, ASaverThatHasNotHeardYetKeepsTheOrder) {
  Commit();
  Commit();
  Decide();
  SayDone(2);
  Commit();
  Commit();
  Decide();
  const std::string saver = Saver();
  ASSERT_NE(saver, "");
  Say(saver, {Sequence(2), "abc", 100, ""});
  Decide();
  EXPECT_EQ(Saver(), saver);
  EXPECT_EQ(bench_.job.saving->order.sequence, Sequence(4));
  // The first state's success is the only record.
  EXPECT_EQ(bench_.Decided<Checkpointed>().size(), 1u);
}

TEST_F(CheckpointsTest, AFailureIsRecordedAndTriedAgainLater) {
  Commit();
  Commit();
  Decide();
  Say(Saver(), {Sequence(2), "", 0, "No space left on device"});
  EXPECT_EQ(Saver(), "");
  ASSERT_EQ(bench_.Decided<Checkpointed>().size(), 1u);
  EXPECT_EQ(bench_.Decided<Checkpointed>()[0].error, "No space left on device");
  Decide();
  EXPECT_EQ(Saver(), "");
  Earliest earliest(bench_.now);
  CollectCheckpoints(bench_.job, bench_.options, earliest);
  ASSERT_TRUE(earliest.found().has_value());
  bench_.now = *earliest.found();
  Decide();
  EXPECT_NE(Saver(), "");
}

TEST_F(CheckpointsTest, AnErrorOfAnotherOrderChangesNothing) {
  Commit();
  Commit();
  Decide();
  const std::string saver = Saver();
  Say(saver, {Sequence(1), "", 0, "old"});
  EXPECT_EQ(Saver(), saver);
  EXPECT_TRUE(bench_.Decided<Checkpointed>().empty());
}

TEST_F(CheckpointsTest, ASaverThatTakesTooLongIsReplaced) {
  Commit();
  Commit();
  Decide();
  bench_.now = bench_.now + bench_.options.checkpoint_max;
  Decide();
  EXPECT_EQ(Saver(), "");
  ASSERT_EQ(bench_.Decided<Checkpointed>().size(), 1u);
}

TEST_F(CheckpointsTest, ARestartedCoordinatorTakesUpWhatIsUnderWay) {
  Commit();
  Commit();
  bench_.job.save_not_before = bench_.now + bench_.options.lease;
  Decide();
  EXPECT_EQ(Saver(), "");
  Say("w1", {Sequence(2), "", 0, ""});
  ASSERT_EQ(Saver(), "w1");
  EXPECT_TRUE(CheckpointOrderFor(bench_.job, "w1")->pieces.empty());
  SayDone(2);
  ASSERT_EQ(bench_.job.checkpoints.size(), 1u);
  EXPECT_EQ(bench_.job.checkpoints[0].consumed, (data::RangeSet{{0, 32}}));
}

TEST_F(CheckpointsTest, WhatWasFinishedMeanwhileCounts) {
  Commit();
  Commit();
  Say("w0", {Sequence(2), "abc", 100, ""});
  Say("w0", {Sequence(2), "abc", 100, ""});
  EXPECT_EQ(bench_.job.checkpoints.size(), 1u);
}

TEST_F(CheckpointsTest, AStateThatIsNotCommittedIsNotBelieved) {
  Commit();
  Say("w0", {Sequence(2), "abc", 100, ""});
  EXPECT_TRUE(bench_.job.checkpoints.empty());
}

TEST_F(CheckpointsTest, TheLastHolderThatLeavesSavesTheNewestState) {
  Commit();
  Lose("w1");
  Decide();
  EXPECT_EQ(Saver(), "");
  EXPECT_FALSE(IsCoveredWithout(bench_.job, bench_.workers, "w0"));
  bench_.Emit(WorkerMarked{"w0", WorkerIntent::kDrain});
  Decide();
  ASSERT_EQ(Saver(), "w0");
  EXPECT_EQ(bench_.job.saving->order.sequence, Sequence(1));
  SayDone(1);
  EXPECT_TRUE(IsCoveredWithout(bench_.job, bench_.workers, "w0"));
}

TEST_F(CheckpointsTest, WithoutFolderNothingIsSaved) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  DecideCheckpoints(bench.job, bench.decider());
  EXPECT_FALSE(bench.job.saving.has_value());
  EXPECT_FALSE(AwaitsCheckpoint(bench.job));
}

TEST_F(CheckpointsTest, WhoCannotWriteSavesOnlyWhenNobodyElseCan) {
  bench_.Facts("w1").checkpoint_trouble = "read-only";
  Commit();
  Commit();
  Decide();
  EXPECT_EQ(Saver(), "w0");
  SayDone(2);
  bench_.Facts("w0").checkpoint_trouble = "read-only";
  Commit();
  Commit();
  Decide();
  EXPECT_NE(Saver(), "");
}

TEST_F(CheckpointsTest, AFailureIsKnownUntilAStateIsSaved) {
  Commit();
  Commit();
  Decide();
  Say(Saver(), {Sequence(2), "", 0, "No space left on device"});
  ASSERT_TRUE(bench_.job.save_failure.has_value());
  EXPECT_EQ(bench_.job.save_failure->error, "No space left on device");
  const JobSnapshot saved = SaveJob(bench_.job);
  EXPECT_EQ(saved.save_failure, bench_.job.save_failure);
  bench_.now = bench_.job.save_not_before;
  Decide();
  ASSERT_NE(Saver(), "");
  SayDone(2);
  EXPECT_FALSE(bench_.job.save_failure.has_value());
}

class LastCheckpointTest : public CheckpointsTest {
 protected:
  LastCheckpointTest() : CheckpointsTest(8, {"w0"}) {}
};

TEST_F(LastCheckpointTest, TheEndOfTheJobIsSavedBeforeItEnds) {
  Commit();
  ASSERT_TRUE(bench_.job.ledger.AllConsumed());
  EXPECT_TRUE(AwaitsCheckpoint(bench_.job));
  Decide();
  ASSERT_NE(Saver(), "");
  SayDone(1);
  EXPECT_FALSE(AwaitsCheckpoint(bench_.job));
}

TEST_F(LastCheckpointTest, AFolderThatCannotBeWrittenDoesNotHoldTheJob) {
  Commit();
  Decide();
  Say(Saver(), {Sequence(1), "", 0, "No space left on device"});
  EXPECT_FALSE(AwaitsCheckpoint(bench_.job));
}

class FailedBeforeTheEndTest : public CheckpointsTest {
 protected:
  FailedBeforeTheEndTest() : CheckpointsTest(24, {"w0"}) {}
};

TEST_F(FailedBeforeTheEndTest, TheEndIsTriedAlthoughAnEarlierStateFailed) {
  Commit();
  Commit();
  Decide();
  Say(Saver(), {Sequence(2), "", 0, "No space left on device"});
  Commit();
  ASSERT_TRUE(bench_.job.ledger.AllConsumed());
  EXPECT_TRUE(AwaitsCheckpoint(bench_.job));
  Decide();
  ASSERT_EQ(Saver(), "w0");
  EXPECT_EQ(bench_.job.saving->order.sequence, Sequence(3));
  Say(Saver(), {Sequence(3), "", 0, "No space left on device"});
  EXPECT_FALSE(AwaitsCheckpoint(bench_.job));
  Decide();
  EXPECT_EQ(Saver(), "");
}

}  // namespace
}  // namespace skerry::coordinator
