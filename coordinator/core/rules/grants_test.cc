#include "coordinator/core/rules/grants.h"

#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

uint64_t Leased(const JobBench& bench, Life life) {
  return bench.job.ledger.LeasedTo(life).total();
}

TEST(GrantsTest, AReplicaIsKeptTwoRoundsAheadOfWhatItReported) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  DecideGrants(bench.job, bench.decider());
  EXPECT_EQ(Leased(bench, life), 16u);
  bench.Offer("w0", 1, 0, {0, 8});
  DecideGrants(bench.job, bench.decider());
  EXPECT_EQ(Leased(bench, life), 24u);
  EXPECT_EQ(bench.Decided<Granted>().back().ranges.ranges().front().begin, 16u);
}

TEST(GrantsTest, ARoundGrowsWithTheWorkersOfTheReplica) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0", "w1"});
  EXPECT_EQ(Leased(bench, life), 32u);
  bench.Offer("w0", 1, 0, {0, 16});
  DecideGrants(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<Granted>().back().ranges.ranges().front().size(),
            16u);
}

TEST(GrantsTest, TheLastSamplesAreDivided) {
  JobBench bench(job::SmallJob("bench", 40));
  const Life a = bench.AddReplica("a", {"w0"});
  const Life b = bench.AddReplica("b", {"w1"});
  bench.Offer("w0", 1, 0, {0, 8});
  bench.Offer("w1", 1, 0, {16, 24});
  DecideGrants(bench.job, bench.decider());
  EXPECT_EQ(Leased(bench, a), 20u);
  EXPECT_EQ(Leased(bench, b), 20u);
  EXPECT_TRUE(bench.job.ledger.free().empty());
}

TEST(GrantsTest, SuspectedReplicasAreGivenNothing) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.Offer("w0", 1, 0, {0, 8});
  bench.workers.LoseStream("w0", bench.workers.FindCurrent("w0")->boot,
                           bench.now);
  DecideGrants(bench.job, bench.decider());
  EXPECT_EQ(Leased(bench, life), 16u);
}

TEST(GrantsTest, SamplesOfADeadLifeAreGrantedAgain) {
  JobBench bench(job::SmallJob("bench", 32));
  const Life a = bench.AddReplica("a", {"w0"});
  const Life b = bench.AddReplica("b", {"w1"});
  EndLife(bench.job, bench.decider(), a, "gone");
  bench.Offer("w1", 1, 0, {16, 24});
  DecideGrants(bench.job, bench.decider());
  EXPECT_TRUE(bench.job.ledger.LeasedTo(b).Contains(0));
}

TEST(GrantsTest, WhenOnlyDroppedSamplesAreLeftTheLifeBeginsAnew) {
  JobBench bench(job::SmallJob("bench", 16));
  const Life life = bench.AddReplica("a", {"w0"});
  bench.Emit(
      Dropped{bench.job.id, FragmentId(0), life, Round(1), "", {{0, 16}}});
  DecideGrants(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<ReplicaEnded>().size(), 1u);
  EXPECT_EQ(bench.job.ledger.free().total(), 16u);
}

}  // namespace
}  // namespace skerry::coordinator
