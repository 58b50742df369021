#include "coordinator/core/rules/restore.h"

#include "coordinator/core/rules/checkpoints.h"
#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/rules/job_orders.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/retention.h"
#include "coordinator/core/state/job_snapshot.h"
#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::CheckpointFact;
using protocol::SeatState;

using ::testing::HasSubstr;

job::JobSpec SavedJob() {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.checkpoint = job::JobSpec::Checkpoints{"/saved", 2, 2};
  return spec;
}

class RestoreTest : public testing::Test {
 protected:
  explicit RestoreTest(const job::JobSpec& spec = SavedJob()) : bench_(spec) {
    bench_.AddReplica("a", {"w0"});
    for (int i = 0; i < 3; ++i) Commit();
  }
  void Commit() {
    const uint64_t done = bench_.job.fragments[0].newest().value();
    bench_.Offer("w0", done + 1, done, {8 * done, 8 * done + 8});
    DecideExchange(bench_.job, bench_.decider());
    bench_.Report("w0", 7);
    DecideExchange(bench_.job, bench_.decider());
    ASSERT_EQ(bench_.job.fragments[0].newest().value(), done + 1);
    const Life life = bench_.Facts("w0").life;
    const data::RangeSet picked = bench_.job.ledger.Pick(life, 8);
    bench_.Emit(Granted{bench_.job.id, life, picked});
  }
  // The state at 2, which has taken in samples 0 to 16.
  void Save() {
    bench_.Emit(Checkpointed{
        bench_.job.id, Sequence(2), "w0", "abc", 100, "", {{0, 16}}});
  }
  void Lose(const std::string& name) {
    LoseWorker(bench_.job, bench_.decider(), name, "gone");
    bench_.Emit(WorkerLeft{name, bench_.workers.FindCurrent(name)->incarnation,
                           "gone"});
  }
  // A process of that name with an empty disk.
  void Start(const std::string& name) {
    bench_.AddWorker(name, "a");
    bench_.job.seats.erase(name);
    JobFacts& facts = bench_.Facts(name);
    facts.state = SeatState::kRecovering;
    bench_.Fragment(name);
    DecideMembership(bench_.job, bench_.decider());
  }
  // All that is left of spans 0 to 8 are bases at `sequence`.
  void LeaveBasesAt(Sequence sequence) {
    Lose("w0");
    Start("w1");
    FragmentFacts& left = bench_.Fragment("w1");
    left.anchor_hashes.assign(8, 5);
    left.applied = left.stored_through = sequence;
    left.bases = {{sequence, 0, std::vector<uint64_t>(8, 5)}};
  }
  void Decide() { DecideRestore(bench_.job, bench_.decider()); }
  void Wait() { bench_.now = bench_.now + bench_.options.restore_wait; }
  bool WentBack() const { return bench_.job.restored.has_value(); }

  JobBench bench_;
};

// An older journal has no life of the job; what workers held was kept, and then
// their disks were lost.
TEST_F(RestoreTest, AJobThatNobodyHasTrainedHereYetGoesBackAsWell) {
  Save();
  Lose("w0");
  bench_.job.phase = JobPhase::kPending;
  Start("w1");
  Decide();
  Wait();
  Decide();
  EXPECT_TRUE(WentBack());
}

TEST_F(RestoreTest, TheNextStateIsThatOfTheCheckpoint) {
  Save();
  Lose("w0");
  Start("w1");
  Decide();
  EXPECT_FALSE(WentBack());
  Wait();
  Decide();
  ASSERT_TRUE(WentBack());
  EXPECT_EQ(bench_.job.restored->sequence, Sequence(4));
  EXPECT_EQ(bench_.job.restored->checkpoint, Sequence(2));
  EXPECT_THAT(bench_.job.restored->reason, HasSubstr("spans 0 to 8"));
  EXPECT_EQ(bench_.job.fragments[0].newest(), Sequence(4));
  EXPECT_EQ(bench_.job.fragments[0].history().back().samples_committed, 16u);
  // Samples 16 to 24 are given out again, and count once.
  EXPECT_EQ(bench_.job.ledger.consumed().total(), 16u);
  EXPECT_EQ(bench_.job.ledger.free().total(), 1000u - 16u);
  const AuditReport audit = bench_.job.audit.Report();
  EXPECT_EQ(audit.samples_committed, 16u);
  EXPECT_TRUE(audit.doubled.empty());
}

TEST_F(RestoreTest, WorkersAreToldWhereTheJobBeginsAgain) {
  Save();
  Lose("w0");
  Start("w1");
  Decide();
  Wait();
  Decide();
  const auto orders =
      JobOrdersWriter(bench_.job, bench_.workers, bench_.options, bench_.now)
          .For("w1");
  ASSERT_TRUE(orders.has_value());
  ASSERT_TRUE(orders->restored.has_value());
  EXPECT_EQ(orders->restored->sequence, Sequence(4));
  EXPECT_EQ(orders->restored->checkpoint, Sequence(2));
  EXPECT_EQ(orders->restored->sha256, "abc");
  EXPECT_EQ(orders->restored->samples_committed, 16u);
  EXPECT_TRUE(orders->fragments[0].committed.empty());
  EXPECT_EQ(orders->fragments[0].keep_from, Sequence(4));
  EXPECT_EQ(KeepFrom(bench_.job, bench_.workers, bench_.options, FragmentId(0)),
            Sequence(4));
}

TEST_F(RestoreTest, OnlyTheNewStateIsRecovered) {
  Save();
  Lose("w0");
  Start("w1");
  Decide();
  Wait();
  Decide();
  FragmentFacts& facts = bench_.Fragment("w1");
  facts.anchor_hashes.assign(8, 5);
  facts.applied = Sequence(3);  // it kept what was lost
  DecideMembership(bench_.job, bench_.decider());
  EXPECT_TRUE(bench_.job.replicas.current().empty());
  facts.applied = Sequence(4);
  DecideMembership(bench_.job, bench_.decider());
  EXPECT_EQ(bench_.job.replicas.current().size(), 1u);
  // The new state alone is nothing that could be lost.
  Decide();
  EXPECT_FALSE(bench_.job.lost_spans.has_value());
}

TEST_F(RestoreTest, ADiskThatComesBackIsWaitedFor) {
  Save();
  Lose("w0");
  Start("w1");
  Decide();
  Start("w0");
  bench_.Fragment("w0").anchor_hashes.assign(8, 5);
  bench_.Fragment("w0").applied = Sequence(3);
  Wait();
  Decide();
  EXPECT_FALSE(WentBack());
}

TEST_F(RestoreTest, AWorkerOnItsWayToWhatItHasIsWaitedFor) {
  Save();
  Lose("w0");
  Start("w1");
  Decide();
  Wait();
  bench_.Fragment("w1").anchor_hashes.assign(8, 5);
  bench_.Fragment("w1").applied = Sequence(1);
  Decide();
  EXPECT_FALSE(WentBack());
  Wait();
  Decide();
  EXPECT_TRUE(WentBack());
}

// Reading a large base takes long, and its worker says nothing meanwhile.
TEST_F(RestoreTest, AWorkerThatReadsItsBaseIsWaitedForLonger) {
  Save();
  Lose("w0");
  Start("w1");
  bench_.Fragment("w1").bases = {{Sequence(3), 0, std::vector<uint64_t>(8, 5)}};
  Decide();
  for (int i = 1; i < 30; ++i) {
    Wait();
    Decide();
    ASSERT_FALSE(WentBack());
  }
  Earliest earliest(bench_.now);
  CollectRestore(bench_.job, bench_.options, earliest);
  ASSERT_TRUE(earliest.found().has_value());
  bench_.now = *earliest.found();
  Decide();
  // It is newer than the checkpoint, if it can be read at all.
  ASSERT_TRUE(bench_.job.saving.has_value());
  bench_.Facts("w1").checkpoint = CheckpointFact{Sequence(3), "", 0, "rotten"};
  TakeCheckpoint(bench_.job, bench_.decider(), "w1", bench_.Facts("w1"));
  Decide();
  EXPECT_TRUE(WentBack());
}

TEST_F(RestoreTest, ABaseThatAnotherWorkerHasIsFetched) {
  Save();
  Lose("w0");
  Start("w1");
  Decide();
  bench_.AddWorker("w2", "b");
  bench_.Facts("w2").state = SeatState::kRecovering;
  bench_.Fragment("w2").bases = {{Sequence(3), 0, std::vector<uint64_t>(8, 5)}};
  Decide();
  Wait();
  Decide();
  EXPECT_FALSE(WentBack());
  // A base of some of the spans leads nowhere.
  bench_.Fragment("w2").bases[0].hashes.resize(7);
  Decide();
  EXPECT_TRUE(WentBack());
}

TEST_F(RestoreTest, AWorkerThatFoldsWhatIsOnItsDiskIsWaitedForLonger) {
  Save();
  Lose("w0");
  Start("w1");
  bench_.Fragment("w1").applied = Sequence(1);
  bench_.Fragment("w1").stored_through = Sequence(3);
  Decide();
  Wait();
  Decide();
  EXPECT_FALSE(WentBack());
  bench_.Fragment("w1").stored_through = Sequence(1);  // it is damaged
  Decide();
  Wait();
  Decide();
  EXPECT_TRUE(WentBack());
}

TEST_F(RestoreTest, AWorkerWhoseTrainerStartsHasNotSpokenYet) {
  Save();
  Lose("w0");
  Start("w1");
  bench_.Facts("w1").state = SeatState::kStarting;
  Decide();
  Wait();
  Decide();
  EXPECT_FALSE(WentBack());
}

TEST_F(RestoreTest, WithoutWorkersNothingIsGivenUp) {
  Save();
  Lose("w0");
  DecideMembership(bench_.job, bench_.decider());
  Decide();
  Wait();
  Decide();
  EXPECT_FALSE(WentBack());
}

TEST_F(RestoreTest, BeforeTheFirstCheckpointTheJobBeginsAgain) {
  Lose("w0");
  Start("w1");
  Decide();
  Wait();
  Decide();
  ASSERT_TRUE(WentBack());
  EXPECT_EQ(bench_.job.restored->sequence, Sequence(4));
  EXPECT_FALSE(bench_.job.restored->checkpoint.is_set());
  EXPECT_THAT(bench_.job.restored->reason,
              HasSubstr("24 samples of all exchanges so far are lost"));
  EXPECT_EQ(bench_.job.ledger.free().total(), 1000u);
  EXPECT_EQ(bench_.job.fragments[0].history().back().samples_committed, 0u);
  EXPECT_EQ(bench_.job.audit.Report().samples_committed, 0u);
  const auto state = RestoredStateOf(bench_.job);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(*state, (protocol::RestoredState{Sequence(4), Sequence(), "", 0}));
}

// Where nothing was ever saved, what workers have is not given up.
TEST_F(RestoreTest, TheOnlyStateThatIsLeftIsTriedUntilItIsSaved) {
  LeaveBasesAt(Sequence(2));
  Decide();
  Wait();
  Decide();
  ASSERT_TRUE(bench_.job.saving.has_value());
  bench_.Facts("w1").checkpoint = CheckpointFact{Sequence(2), "", 0, "full"};
  TakeCheckpoint(bench_.job, bench_.decider(), "w1", bench_.Facts("w1"));
  Decide();
  EXPECT_FALSE(WentBack());
  bench_.Facts("w1").checkpoint = CheckpointFact{Sequence(2), "abc", 100, ""};
  TakeCheckpoint(bench_.job, bench_.decider(), "w1", bench_.Facts("w1"));
  Decide();
  ASSERT_TRUE(WentBack());
  EXPECT_EQ(bench_.job.restored->checkpoint, Sequence(2));
}

class RestoreOfUnsavedTest : public RestoreTest {
 protected:
  static job::JobSpec UnsavedJob() {
    job::JobSpec spec = SavedJob();
    spec.checkpoint.reset();
    return spec;
  }
  RestoreOfUnsavedTest() : RestoreTest(UnsavedJob()) {}
};

TEST_F(RestoreOfUnsavedTest, TheJobWaits) {
  Lose("w0");
  Start("w1");
  Decide();
  Wait();
  Decide();
  EXPECT_FALSE(WentBack());
}

// Spans 0 to 8 at 2 in a base, and result 3 on no disk.
TEST_F(RestoreTest, WhatIsLeftOfANewerStateIsSavedFirst) {
  Commit();
  Save();
  LeaveBasesAt(Sequence(3));
  DecideMembership(bench_.job, bench_.decider());
  EXPECT_TRUE(bench_.job.replicas.current().empty());
  Decide();
  EXPECT_FALSE(bench_.job.saving.has_value());
  Wait();
  Decide();
  EXPECT_FALSE(WentBack());
  ASSERT_TRUE(bench_.job.saving.has_value());
  EXPECT_EQ(bench_.job.saving->worker, "w1");
  EXPECT_EQ(bench_.job.saving->order.sequence, Sequence(3));
  bench_.Facts("w1").checkpoint = CheckpointFact{Sequence(3), "def", 100, ""};
  TakeCheckpoint(bench_.job, bench_.decider(), "w1", bench_.Facts("w1"));
  Decide();
  ASSERT_TRUE(WentBack());
  EXPECT_EQ(bench_.job.restored->sequence, Sequence(5));
  EXPECT_EQ(bench_.job.restored->checkpoint, Sequence(3));
  EXPECT_EQ(bench_.job.ledger.consumed().total(), 24u);
}

TEST_F(RestoreTest, WhatCannotBeSavedIsGivenUp) {
  Commit();
  Save();
  LeaveBasesAt(Sequence(3));
  Decide();
  Wait();
  Decide();
  ASSERT_TRUE(bench_.job.saving.has_value());
  bench_.Facts("w1").checkpoint = CheckpointFact{Sequence(3), "", 0, "full"};
  TakeCheckpoint(bench_.job, bench_.decider(), "w1", bench_.Facts("w1"));
  Decide();
  ASSERT_TRUE(WentBack());
  EXPECT_EQ(bench_.job.restored->checkpoint, Sequence(2));
}

TEST_F(RestoreTest, LivesThatWaitForALostResultEnd) {
  Save();
  bench_.AddReplica("b", {"w1"});
  for (const char* name : {"w0", "w1"}) {
    FragmentFacts& facts = bench_.Fragment(name);
    facts.ready.reset();
    facts.anchor_hashes.assign(8, 5);
    facts.applied = facts.stored_through = Sequence(2);
  }
  bench_.Fragment("w0").stored_through = Sequence(3);
  Decide();
  Wait();
  Decide();
  EXPECT_EQ(bench_.job.replicas.current().size(), 2u);
  Lose("w0");
  Decide();
  Wait();
  Decide();
  EXPECT_TRUE(bench_.job.replicas.current().empty());
  EXPECT_FALSE(WentBack());
}

// A coordinator that has just started has heard of no disk.
TEST_F(RestoreTest, LivesOfWorkersThatHaveNotSpokenGoOn) {
  Save();
  bench_.job.seats = {};
  Decide();
  Wait();
  Decide();
  EXPECT_EQ(bench_.job.replicas.current().size(), 1u);
}

TEST_F(RestoreTest, AnOpenAttemptEndsWithIt) {
  Save();
  bench_.Offer("w0", 4, 3, {24, 32});
  DecideExchange(bench_.job, bench_.decider());
  ASSERT_TRUE(bench_.job.fragments[0].open().has_value());
  Lose("w0");
  Start("w1");
  Decide();
  Wait();
  Decide();
  ASSERT_TRUE(WentBack());
  EXPECT_FALSE(bench_.job.fragments[0].open().has_value());
  bench_.job.ledger.CheckInvariants();
  EXPECT_EQ(bench_.job.ledger.free().total(), 1000u - 16u);
}

class RestoreAtTheEndTest : public RestoreTest {
 protected:
  static job::JobSpec ShortJob() {
    job::JobSpec spec = SavedJob();
    spec.training.samples = 24;
    return spec;
  }
  RestoreAtTheEndTest() : RestoreTest(ShortJob()) {}
};

TEST_F(RestoreAtTheEndTest, WhatWasTheEndIsNoneAnyMore) {
  ASSERT_TRUE(bench_.job.ledger.AllConsumed());
  Save();
  bench_.job.final_since = bench_.now;
  bench_.job.final_alone_since = bench_.now;
  Lose("w0");
  Start("w1");
  Decide();
  Wait();
  Decide();
  ASSERT_TRUE(WentBack());
  EXPECT_FALSE(bench_.job.ledger.AllConsumed());
  EXPECT_FALSE(bench_.job.final_since.has_value());
  EXPECT_FALSE(bench_.job.final_alone_since.has_value());
}

TEST_F(RestoreTest, ASnapshotKnowsOfIt) {
  Save();
  Lose("w0");
  Start("w1");
  Decide();
  Wait();
  Decide();
  const JobSnapshot saved = SaveJob(bench_.job);
  JobState again(bench_.job.id, saved.submitted, bench_.options);
  ASSERT_TRUE(RestoreJob(again, saved).ok());
  EXPECT_EQ(again.restored, bench_.job.restored);
  EXPECT_EQ(again.checkpoints, bench_.job.checkpoints);
  EXPECT_EQ(again.keep_from[0], Sequence(4));
  StateHasher before;
  StateHasher after;
  HashInto(bench_.job, before);
  HashInto(again, after);
  EXPECT_EQ(before.value(), after.value());
}

}  // namespace
}  // namespace skerry::coordinator
