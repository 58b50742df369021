#include "coordinator/core/rules/divergence.h"

#include "coordinator/core/log/state_hash.h"
#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/rules/job_orders.h"
#include "coordinator/core/rules/job_rules.h"
#include "coordinator/core/rules/lost_history.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/state/job_snapshot.h"
#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::HeldBase;

using ::testing::HasSubstr;

constexpr char kSha[] =
    "00000000000000000000000000000000000000000000000000000000000000aa";

// A job whose journal ends at sequence 2, with samples 0 to 16.
class DivergenceTest : public testing::Test {
 protected:
  DivergenceTest() : bench_(Spec()) {
    bench_.AddReplica("a", {"w0"});
    bench_.AddReplica("b", {"w1"});
    for (uint64_t done = 0; done < 2; ++done) {
      bench_.Offer("w0", done + 1, done, {8 * done, 8 * done + 8});
      DecideExchange(bench_.job, bench_.decider());
      bench_.now = bench_.now + absl::Seconds(30);
      DecideExchange(bench_.job, bench_.decider());
      bench_.Report("w0", 7);
      DecideExchange(bench_.job, bench_.decider());
    }
    EXPECT_EQ(bench_.job.fragments[0].newest(), Sequence(2));
  }
  static job::JobSpec Spec() {
    job::JobSpec spec = job::SmallJob("bench", 1000);
    spec.checkpoint = job::JobSpec::Checkpoints{"/saved", 2, 2};
    spec.exchange.quorum = 0.5;
    return spec;
  }
  // The worker has lost its life, and shows this.
  FragmentFacts& Show(const std::string& name, uint64_t applied,
                      std::vector<HeldBase> bases) {
    JobFacts& facts = bench_.Facts(name);
    facts.life = Life();
    facts.state = protocol::SeatState::kRecovering;
    FragmentFacts& shown = bench_.Fragment(name);
    shown.applied = shown.stored_through = Sequence(applied);
    shown.anchor_hashes.assign(8, applied);
    shown.bases = std::move(bases);
    return shown;
  }
  static HeldBase Base(uint64_t sequence, uint64_t hash) {
    return {Sequence(sequence), 0, std::vector<uint64_t>(8, hash)};
  }
  void Decide() { DecideDivergence(bench_.job, bench_.decider()); }
  bool Stands() const { return bench_.job.diverged.has_value(); }
  static Checkpointed Saved(uint64_t sequence) {
    return {JobId(), Sequence(sequence), "operator", kSha, 100, "", {{0, 40}}};
  }

  JobBench bench_;
};

TEST_F(DivergenceTest, WorkersThatFollowTheJournalLeaveTheJobAlone) {
  FragmentFacts& facts = Show("w0", 2, {Base(2, 5)});
  facts.last_result = Sequence(3);  // of an attempt that is open
  facts.applied_attempt = bench_.job.fragments[0].history()[1].attempt;
  Decide();
  EXPECT_FALSE(Stands());
}

TEST_F(DivergenceTest, AWorkerAheadOfTheJournalStopsTheJob) {
  Show("w0", 9, {Base(8, 5)});
  Decide();
  ASSERT_TRUE(Stands());
  EXPECT_TRUE(bench_.job.replicas.current().empty());
  EXPECT_THAT(bench_.job.diverged->reason,
              HasSubstr("worker w0 holds sequence 9 of the job, and the "
                        "journal ends at 2: an older journal was put in"));
  // Nobody is admitted, and the state outlives a restart.
  bench_.job.places_stale = true;
  DecideMembership(bench_.job, bench_.decider());
  EXPECT_TRUE(bench_.job.replicas.current().empty());
  const JobSnapshot saved = SaveJob(bench_.job);
  EXPECT_EQ(saved.diverged, bench_.job.diverged);
}

TEST_F(DivergenceTest, AStateAheadIsSeenWhateverIsStored) {
  Show("w0", 9, {});
  Decide();
  EXPECT_TRUE(Stands());
}

TEST_F(DivergenceTest, ABaseAheadIsSeen) {
  Show("w0", 0, {Base(7, 5)});
  Decide();
  EXPECT_TRUE(Stands());
}

TEST_F(DivergenceTest, AResultFarAheadIsSeen) {
  Show("w0", 0, {}).last_result = Sequence(4);
  Decide();
  EXPECT_TRUE(Stands());
}

TEST_F(DivergenceTest, AnotherHistoryAtEqualNumbersIsSeen) {
  Show("w0", 2, {Base(2, 5)}).applied_attempt = Attempt(123456);
  Decide();
  ASSERT_TRUE(Stands());
  EXPECT_THAT(bench_.job.diverged->reason, HasSubstr("another journal"));
}

TEST_F(DivergenceTest, AResultOfAnotherHistoryIsSeen) {
  FragmentFacts& facts = Show("w0", 0, {});
  facts.last_result = Sequence(2);
  facts.last_result_attempt = Attempt(123456);
  Decide();
  EXPECT_TRUE(Stands());
}

TEST_F(DivergenceTest, TheJobGoesOnWithWhatWorkersHold) {
  Show("w0", 9, {Base(8, 5), Base(9, 6)});
  Show("w1", 8, {Base(8, 5)});  // it has not heard of the last commit
  Decide();
  ASSERT_TRUE(Stands());
  EXPECT_THAT(DivergenceText(bench_.job, bench_.workers),
              HasSubstr("sequence 9, in which 2 worker(s) agree: w0, w1): "
                        "skerryctl restore bench --from-workers"));
  const uint64_t consumed = bench_.job.ledger.consumed().total();
  ASSERT_TRUE(AdoptWorkers(bench_.job, bench_.decider()).ok());
  EXPECT_FALSE(Stands());
  EXPECT_EQ(bench_.job.fragments[0].newest(), Sequence(9));
  EXPECT_EQ(bench_.job.fragments[0].floor(), Sequence(9));
  EXPECT_EQ(bench_.job.keep_from[0], Sequence(9));
  // Workers keep their seats: nothing went back.
  const auto orders =
      JobOrdersWriter(bench_.job, bench_.workers, bench_.options, bench_.now)
          .For("w0");
  ASSERT_TRUE(orders.has_value());
  EXPECT_FALSE(orders->restored.has_value());
  EXPECT_EQ(bench_.job.ledger.consumed().total(), consumed);
  EXPECT_EQ(bench_.job.ledger.free().total(), 1000 - consumed);
  Decide();
  EXPECT_FALSE(Stands());
  // What a snapshot makes of it is the same.
  JobState again(bench_.job.id, {bench_.job.spec, bench_.job.idempotency_key},
                 bench_.options);
  ASSERT_TRUE(RestoreJob(again, SaveJob(bench_.job)).ok());
  StateHasher a, b;
  HashInto(bench_.job, a);
  HashInto(again, b);
  EXPECT_EQ(a.value(), b.value());
}

// Its commit is known to nobody, and the worker keeps it until another result
// of that sequence is committed.
TEST_F(DivergenceTest, ALostResultOfAKeptHistoryStopsTheJobOnlyOnce) {
  FragmentFacts& facts = Show("w0", 7, {Base(7, 5)});
  facts.last_result = Sequence(9);
  facts.last_result_attempt = Attempt(3);
  Decide();
  ASSERT_TRUE(Stands());
  ASSERT_TRUE(AdoptWorkers(bench_.job, bench_.decider()).ok());
  Decide();
  EXPECT_FALSE(Stands());
  JobState again(bench_.job.id, {bench_.job.spec, bench_.job.idempotency_key},
                 bench_.options);
  ASSERT_TRUE(RestoreJob(again, SaveJob(bench_.job)).ok());
  EXPECT_EQ(again.adopted_at, bench_.job.adopted_at);
  // A result of a newer attempt is of yet another history.
  facts.last_result_attempt = Attempt(bench_.job.adopted_at.value() + 50);
  Decide();
  EXPECT_TRUE(Stands());
}

// Nothing is set without an exchange then, so the history's floor stays.
TEST_F(DivergenceTest, TheStateAtTheJournalsEndCanBeKept) {
  const CommittedEntry& newest = bench_.job.fragments[0].history().back();
  FragmentFacts& facts = Show("w0", 2, {Base(2, 5)});
  facts.applied_attempt = facts.bases[0].attempt = newest.attempt;
  facts.last_result = Sequence(9);
  facts.last_result_attempt = Attempt(3);
  Decide();
  ASSERT_TRUE(Stands());
  ASSERT_TRUE(AdoptWorkers(bench_.job, bench_.decider()).ok());
  EXPECT_EQ(KeptIn(bench_.job, 0),
            (protocol::KeptState{Sequence(2), newest.attempt,
                                 Attempt(bench_.job.adopted_at.value())}));
  EXPECT_EQ(bench_.Fragment("w0").applied, Sequence(2));
  EXPECT_EQ(bench_.Fragment("w0").bases.size(), 1u);
}

TEST_F(DivergenceTest, WorkersThatDisagreeAreNotKept) {
  Show("w0", 9, {Base(9, 6)});
  Show("w1", 9, {Base(9, 7)});
  Decide();
  EXPECT_THAT(std::string(AdoptWorkers(bench_.job, bench_.decider()).message()),
              HasSubstr("workers hold different states of one sequence"));
  Show("w1", 3, {Base(3, 7)});
  EXPECT_THAT(std::string(AdoptWorkers(bench_.job, bench_.decider()).message()),
              HasSubstr("the state at sequence 9 is not that of w1"));
  EXPECT_TRUE(Stands());
}

TEST_F(DivergenceTest, ACheckpointThatTheJournalDoesNotKnowIsGoneBackTo) {
  Show("w0", 9, {Base(9, 6)});
  Decide();
  ASSERT_TRUE(GoBackToSaved(bench_.job, bench_.decider(), Saved(6)).ok());
  EXPECT_FALSE(Stands());
  ASSERT_TRUE(bench_.job.restored.has_value());
  EXPECT_EQ(bench_.job.restored->checkpoint, Sequence(6));
  // Far above what anybody has shown, so that no number is used twice.
  EXPECT_EQ(bench_.job.fragments[0].newest(), Sequence(1009));
  EXPECT_EQ(bench_.job.ledger.consumed().total(), 40u);
  const auto orders =
      JobOrdersWriter(bench_.job, bench_.workers, bench_.options, bench_.now)
          .For("w0");
  ASSERT_TRUE(orders.has_value() && orders->restored.has_value());
  EXPECT_EQ(orders->restored->sequence, Sequence(1009));
  EXPECT_EQ(orders->restored->sha256, kSha);
  Decide();
  EXPECT_FALSE(Stands());
  const AuditReport audit = bench_.job.audit.Report();
  EXPECT_EQ(audit.samples_committed, 40u);
  EXPECT_TRUE(audit.doubled.empty());
}

// Disks were lost, and the older journal names a checkpoint that is deleted.
TEST_F(DivergenceTest, AJobWhoseStateNobodyHoldsGoesBackWhereTheOperatorSays) {
  EndLives(bench_.job, bench_.decider(), "the disks are lost");
  Show("w0", 0, {}).anchor_hashes.clear();
  Show("w1", 0, {}).anchor_hashes.clear();
  Decide();
  EXPECT_FALSE(Stands());
  EXPECT_FALSE(AdoptWorkers(bench_.job, bench_.decider()).ok());
  ASSERT_TRUE(GoBackToSaved(bench_.job, bench_.decider(), Saved(6)).ok());
  EXPECT_FALSE(Stands());
  EXPECT_EQ(bench_.job.restored->checkpoint, Sequence(6));
  EXPECT_EQ(bench_.job.fragments[0].newest(), Sequence(1002));
  EXPECT_THAT(bench_.job.restored->reason,
              HasSubstr("no worker that is there holds the state"));
}

// A worker tells of its state and of what it saved in one Status.
TEST_F(DivergenceTest, WhatWasSavedInALostHistoryIsNotTaken) {
  Show("w0", 9, {Base(9, 6)});
  JobFacts& facts = bench_.Facts("w0");
  facts.checkpoint = protocol::CheckpointFact{Sequence(2), kSha, 100, ""};
  facts.evaluations = {{Sequence(2), 3.5, 64}};
  TakeFacts(bench_.job, bench_.decider(), "w0", facts);
  EXPECT_TRUE(Stands());
  EXPECT_TRUE(bench_.job.checkpoints.empty());
  EXPECT_TRUE(bench_.job.evaluations.empty());
  // Nor later, while the job stands.
  TakeFacts(bench_.job, bench_.decider(), "w0", facts);
  EXPECT_TRUE(bench_.job.checkpoints.empty());
}

TEST_F(DivergenceTest, NothingIsDecidedForAJobThatDoesNotStand) {
  EXPECT_FALSE(AdoptWorkers(bench_.job, bench_.decider()).ok());
  EXPECT_FALSE(GoBackToSaved(bench_.job, bench_.decider(), Saved(6)).ok());
}

}  // namespace
}  // namespace skerry::coordinator
