#include "coordinator/core/rules/evaluations.h"

#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

// Commits rounds of 8 samples of worker w0, from the given one.
void CommitRounds(JobBench& bench, uint64_t first, uint64_t count) {
  for (uint64_t round = first; round < first + count; ++round) {
    const Life life = bench.job.replicas.FindWorker("w0")->life;
    if (bench.job.ledger.LeasedTo(life).empty()) {
      const data::RangeSet picked = bench.job.ledger.Pick(life, 8);
      bench.Emit(Granted{bench.job.id, life, {picked.ranges().front()}});
    }
    const uint64_t begin =
        bench.job.ledger.LeasedTo(life).ranges().front().begin;
    bench.Offer("w0", round, round - 1, {begin, begin + 8});
    DecideExchange(bench.job, bench.decider());
    bench.Report("w0", round);
    DecideExchange(bench.job, bench.decider());
    bench.Fragment("w0").applied = Sequence(round);
  }
}

TEST(EvaluationsTest, OneHeadIsOrderedEveryFewSequences) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  CommitRounds(bench, 1, 4);
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_FALSE(EvaluationOrderFor(bench.job, "w0").has_value());
  CommitRounds(bench, 5, 1);
  DecideEvaluations(bench.job, bench.decider());
  const auto order = EvaluationOrderFor(bench.job, "w0");
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->sequence, Sequence(5));
  EXPECT_EQ(order->samples_max, 64u);
  EXPECT_FALSE(EvaluationOrderFor(bench.job, "other").has_value());
}

TEST(EvaluationsTest, AResultIsRecordedOnce) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  CommitRounds(bench, 1, 5);
  JobFacts& facts = bench.Facts("w0");
  facts.evaluations = {{Sequence(5), 2.5, 64}, {Sequence(99), 1.0, 64}};
  TakeEvaluations(bench.job, bench.decider(), facts);
  TakeEvaluations(bench.job, bench.decider(), facts);
  EXPECT_EQ(bench.Decided<Evaluated>().size(), 1u);
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_FALSE(EvaluationOrderFor(bench.job, "w0").has_value());
}

TEST(EvaluationsTest, TheJobSucceedsWhenTheFinalAnchorIsEvaluated) {
  JobBench bench(job::SmallJob("bench", 16));
  bench.AddReplica("a", {"w0"});
  CommitRounds(bench, 1, 2);
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_FALSE(bench.job.Ended());
  EXPECT_EQ(EvaluationOrderFor(bench.job, "w0")->samples_max, 16u * 64u);
  JobFacts& facts = bench.Facts("w0");
  facts.evaluations = {{Sequence(2), 2.5, 64}};
  TakeEvaluations(bench.job, bench.decider(), facts);
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_EQ(bench.job.phase, JobPhase::kSucceeded);
}

TEST(EvaluationsTest, WithoutAnyWorkerTheJobSucceedsAfterALease) {
  JobBench bench(job::SmallJob("bench", 16));
  const Life life = bench.AddReplica("a", {"w0"});
  CommitRounds(bench, 1, 2);
  EndLife(bench.job, bench.decider(), life, "gone");
  bench.job.seats = {};
  DecideEvaluations(bench.job, bench.decider());
  Earliest due(bench.now);
  CollectEvaluations(bench.job, bench.options, due);
  EXPECT_EQ(due.found(), bench.now + bench.options.lease);
  bench.now = *due.found();
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_EQ(bench.job.phase, JobPhase::kSucceeded);
}

TEST(EvaluationsTest, AJobWithoutAValidationSplitIsNeverEvaluated) {
  JobBench bench(job::SmallJob("bench", 48));
  bench.Emit(JobSized{bench.job.id, 8 * 4096, 100, 1.0, 0});
  bench.AddReplica("a", {"w0"});
  CommitRounds(bench, 1, 5);
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_FALSE(EvaluationOrderFor(bench.job, "w0").has_value());
  CommitRounds(bench, 6, 1);
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_EQ(bench.job.phase, JobPhase::kSucceeded);
  EXPECT_NE(bench.job.end_reason.find("have no validation split"),
            std::string::npos)
      << bench.job.end_reason;
}

// Its journal was written before the size of the split was in it.
TEST(EvaluationsTest, AJobOfAnOlderJournalAsksNoTrainerWithoutASplit) {
  JobBench bench(job::SmallJob("bench", 16));
  bench.AddReplica("a", {"w0"});
  bench.Facts("w0").validation_samples = 0;
  CommitRounds(bench, 1, 2);
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_FALSE(EvaluationOrderFor(bench.job, "w0").has_value());
  bench.now = bench.now + bench.options.lease;
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_EQ(bench.job.phase, JobPhase::kSucceeded);
}

TEST(EvaluationsTest, AJobWhoseLastAnchorsDifferFails) {
  JobBench bench(job::SmallJob("bench", 16));
  bench.AddReplica("a", {"w0"});
  CommitRounds(bench, 1, 2);
  // Without a life, as after one that ended because its anchor differed.
  bench.AddWorker("w1", "b");
  FragmentFacts other = bench.Fragment("w0");
  other.anchor_hashes[3] = 6;
  bench.Fragment("w1") = other;
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_EQ(bench.job.phase, JobPhase::kFailed);
  EXPECT_EQ(bench.job.end_reason,
            "all samples are committed, but the models differ: span 3 of "
            "fragment 0 at sequence 2 has hash 0000000000000005 on worker w0 "
            "and 0000000000000006 on worker w1; train again, from a checkpoint "
            "if there is one, with one release on machines without faults");
}

TEST(EvaluationsTest, TheEndWaitsALeaseForTheLastAnchorOfEachReplica) {
  JobBench bench(job::SmallJob("bench", 32));
  bench.AddReplica("a", {"w0"});
  const Life slow = bench.AddReplica("b", {"w1"});
  bench.Emit(
      Dropped{bench.job.id, FragmentId(0), slow, Round(1), "", {{16, 32}}});
  CommitRounds(bench, 1, 4);
  bench.Facts("w0").evaluations = {{Sequence(4), 2.5, 64}};
  TakeEvaluations(bench.job, bench.decider(), bench.Facts("w0"));
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_FALSE(bench.job.Ended());
  Earliest due(bench.now);
  CollectEvaluations(bench.job, bench.options, due);
  ASSERT_EQ(due.found(), bench.now + bench.options.lease);
  bench.Fragment("w1").applied = Sequence(4);
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_EQ(bench.job.phase, JobPhase::kSucceeded);
}

// Its disks may come back, or it goes back to a checkpoint.
TEST(EvaluationsTest, AJobWhoseEndIsNotSavedYetDoesNotSucceedWithoutWorkers) {
  job::JobSpec spec = job::SmallJob("bench", 16);
  spec.checkpoint = job::JobSpec::Checkpoints{"/saved", 2, 2};
  JobBench bench(spec);
  const Life life = bench.AddReplica("a", {"w0"});
  CommitRounds(bench, 1, 2);
  EndLife(bench.job, bench.decider(), life, "gone");
  bench.job.seats = {};
  DecideEvaluations(bench.job, bench.decider());
  bench.now = bench.now + bench.options.lease;
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_FALSE(bench.job.Ended());
  Earliest due(bench.now);
  CollectEvaluations(bench.job, bench.options, due);
  ASSERT_TRUE(due.found().has_value());
  bench.now = *due.found();
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_EQ(bench.job.phase, JobPhase::kSucceeded);
}

TEST(EvaluationsTest, AnEvaluatorThatIsLostIsReplaced) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  const Life idle = bench.AddReplica("b", {"w1"});
  bench.Emit(
      Dropped{bench.job.id, FragmentId(0), idle, Round(1), "", {{16, 32}}});
  CommitRounds(bench, 1, 5);
  bench.Fragment("w1").applied = Sequence(5);
  DecideEvaluations(bench.job, bench.decider());
  const std::string first = bench.job.evaluator;
  bench.workers.LoseStream(first, bench.workers.FindCurrent(first)->boot,
                           bench.now);
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_FALSE(bench.job.evaluator.empty());
  EXPECT_NE(bench.job.evaluator, first);
}

TEST(EvaluationsTest, OnlyTheHeadOfAWideReplicaHasTheWholeState) {
  JobBench bench;
  bench.AddReplica("a", {"w0", "w1"});
  EXPECT_TRUE(HasWholeState(bench.job, "w0", bench.job.seats["w0"]));
  EXPECT_FALSE(HasWholeState(bench.job, "w1", bench.job.seats["w1"]));
}

}  // namespace
}  // namespace skerry::coordinator
