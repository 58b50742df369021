#include "coordinator/core/job_orders.h"

#include "coordinator/core/exchange.h"
#include "coordinator/core/membership.h"
#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::SeatState;

std::optional<JobOrders> For(const JobBench& bench, const std::string& name) {
  return JobOrdersFor(bench.job, bench.workers, bench.options, name, bench.now);
}

std::optional<Outcome> OutcomeOf(const JobBench& bench,
                                 const std::string& name) {
  return For(bench, name)->fragments[0].outcome;
}

TEST(JobOrdersTest, AMemberIsToldTheAttemptAndOthersAreNot) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  bench.Offer("w0", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  bench.now = bench.now + bench.options.lease;
  DecideExchange(bench.job, bench.decider());
  ASSERT_TRUE(bench.job.fragments[0].open().has_value());
  EXPECT_TRUE(For(bench, "w0")->fragments[0].open.has_value());
  EXPECT_FALSE(For(bench, "w1")->fragments[0].open.has_value());
}

TEST(JobOrdersTest, ADeadlineThatHasPassedIsZeroAndNotNegative) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.Offer("w0", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  bench.now = bench.now + absl::Hours(1);
  EXPECT_EQ(For(bench, "w0")->fragments[0].open->deadline_in,
            absl::ZeroDuration());
}

TEST(JobOrdersTest, TheOutcomeIsOfTheContributionThatTheWorkerReported) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  EXPECT_FALSE(OutcomeOf(bench, "w0").has_value());
  bench.Offer("w0", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(OutcomeOf(bench, "w0")->kind, Outcome::Kind::kPending);
  bench.Report("w0", 7);
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(OutcomeOf(bench, "w0")->kind, Outcome::Kind::kCommitted);
  EXPECT_EQ(OutcomeOf(bench, "w0")->sequence, Sequence(1));
  bench.Offer("w0", 2, 1, {8, 16});
  EXPECT_EQ(OutcomeOf(bench, "w0")->kind, Outcome::Kind::kPending);
  EXPECT_EQ(OutcomeOf(bench, "w0")->round, Round(2));
}

TEST(JobOrdersTest, CommittedEntriesFollowTheWorkersAppliedWithoutGaps) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  for (uint64_t round = 1; round <= 2; ++round) {
    bench.Offer("w0", round, round - 1, {8 * (round - 1), 8 * round});
    DecideExchange(bench.job, bench.decider());
    bench.Report("w0", 7);
    DecideExchange(bench.job, bench.decider());
  }
  EXPECT_EQ(For(bench, "w0")->fragments[0].committed.size(), 2u);
  bench.Fragment("w0").applied = Sequence(1);
  const auto committed = For(bench, "w0")->fragments[0].committed;
  ASSERT_EQ(committed.size(), 1u);
  EXPECT_EQ(committed[0].sequence, Sequence(2));
  EXPECT_EQ(committed[0].samples_committed, 16u);
  // A worker that claims more than there is gets nothing.
  bench.Fragment("w0").applied = Sequence(~uint64_t{0});
  EXPECT_TRUE(For(bench, "w0")->fragments[0].committed.empty());
}

TEST(JobOrdersTest, AJoinerIsToldItsPlaceAndItsSources) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddWorker("w1", "b");
  EXPECT_FALSE(For(bench, "w1").has_value());
  DecideMembership(bench.job, bench.decider());
  const auto orders = For(bench, "w1");
  ASSERT_TRUE(orders.has_value());
  EXPECT_FALSE(orders->life.is_set());
  EXPECT_EQ(orders->holders.size(), 1u);
  EXPECT_EQ(orders->fragments[0].sources.size(), 1u);
  EXPECT_TRUE(orders->granted.empty());
}

// It was silent for a lease when the job ended, and lacks the last result.
TEST(JobOrdersTest, WhoseLifeWasLostAfterTheEndIsToldItsSources) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  bench.Emit(JobEnded{bench.job.id, JobPhase::kSucceeded, "done"});
  bench.AddWorker("w1", "b");
  bench.Facts("w1").state = SeatState::kRecovering;
  const auto orders = For(bench, "w1");
  ASSERT_TRUE(orders.has_value());
  EXPECT_FALSE(orders->life.is_set());
  EXPECT_EQ(orders->fragments[0].sources.size(), 1u);
}

TEST(JobOrdersTest, WhoHadNoLifeAtTheEndIsToldAllSources) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddWorker("w1", "b");
  bench.Facts("w1").state = SeatState::kRecovering;
  bench.Emit(JobEnded{bench.job.id, JobPhase::kSucceeded, "done"});
  const auto orders = For(bench, "w1");
  ASSERT_TRUE(orders.has_value());
  EXPECT_TRUE(orders->holders.empty());
  EXPECT_EQ(orders->fragments[0].sources.size(), 1u);
}

// What another lacks of the end may be on its disk alone.
TEST(JobOrdersTest, WhoStartsAnewAfterTheEndHasItsPlaceWhileAnotherLacksIt) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  bench.Offer("w0", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  bench.now = bench.now + bench.options.lease;
  DecideExchange(bench.job, bench.decider());
  bench.Report("w0", 7);
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.job.fragments[0].newest(), Sequence(1));
  bench.Emit(JobEnded{bench.job.id, JobPhase::kSucceeded, "done"});
  bench.job.seats.erase("w0");
  bench.AddWorker("w0", "a");
  const auto orders = For(bench, "w0");
  ASSERT_TRUE(orders.has_value());
  EXPECT_FALSE(orders->life.is_set());
  EXPECT_EQ(orders->holders, bench.job.replicas.Find(life)->holders);
  bench.Fragment("w1").applied = Sequence(1);
  EXPECT_FALSE(For(bench, "w0").has_value());
}

TEST(JobOrdersTest, ANewBootIsNotInTheLifeOfTheOldOne) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddWorker("w0", "a");
  bench.Facts("w0");
  EXPECT_FALSE(For(bench, "w0")->life.is_set());
}

}  // namespace
}  // namespace skerry::coordinator
