#include "coordinator/core/rules/job_orders.h"

#include <utility>

#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/restore.h"
#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::SeatState;

std::optional<JobOrders> For(const JobBench& bench, const std::string& name) {
  return JobOrdersWriter(bench.job, bench.workers, bench.options, bench.now)
      .For(name);
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

// Its trainer would wait for nothing.
TEST(JobOrdersTest, AWorkerBesideOneThatTrainsAloneIsNotToldOfTheJob) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddWorker("w1", "a");
  bench.Facts("w1").state = protocol::SeatState::kRecovering;
  const auto told = [&](const char* name) {
    return JobOrdersWriter(bench.job, bench.workers, bench.options, bench.now)
        .For(name)
        .has_value();
  };
  EXPECT_TRUE(told("w1"));
  bench.Facts("w0").trains_alone = true;
  EXPECT_TRUE(told("w0"));
  EXPECT_FALSE(told("w1"));
  // A failure stays known.
  bench.job.seats["w1"].unfit = "no device";
  EXPECT_TRUE(told("w1"));
}

// Worker w0 trains, w1 is left out beside it and has a folder of the job. A
// result is committed that nobody has applied yet.
class LeftOutTest : public testing::Test {
 protected:
  LeftOutTest() {
    life_ = bench_.AddReplica("a", {"w0"});
    bench_.AddWorker("w1", "a");
    bench_.Facts("w0").trains_alone = true;
    StatusFacts status;
    status.self = {"w1", "w1:1", ""};
    status.island = "a";
    status.boot = bench_.workers.FindCurrent("w1")->boot;
    status.counter = 2;
    status.stored.all.push_back({{bench_.job.id, UidOf(bench_.job)}});
    bench_.workers.Heard(status, bench_.now);
    bench_.Offer("w0", 1, 0, {0, 8});
    DecideExchange(bench_.job, bench_.decider());
    bench_.Report("w0", 7);
    DecideExchange(bench_.job, bench_.decider());
  }
  bool IsTold() {
    return JobOrdersWriter(bench_.job, bench_.workers, bench_.options,
                           bench_.now)
        .For("w1")
        .has_value();
  }
  // The worker has the newest state.
  void Bring(const char* name) {
    FragmentFacts& facts = bench_.Fragment(name);
    facts.anchor_hashes.assign(8, 7);
    facts.applied = facts.stored_through = Sequence(1);
    DecideRestore(bench_.job, bench_.decider());
  }

  JobBench bench_;
  Life life_;
};

// It would start a trainer for nothing after every commit.
TEST_F(LeftOutTest, IsNotAskedForWhatNobodyHasAppliedYet) {
  ASSERT_EQ(bench_.job.fragments[0].newest(), Sequence(1));
  DecideRestore(bench_.job, bench_.decider());
  EXPECT_FALSE(IsTold());
  bench_.Emit(ReplicaEnded{bench_.job.id, life_, "gone"});
  EXPECT_TRUE(IsTold());
}

// Those that train wait for a result that may be on its disk alone.
TEST_F(LeftOutTest, IsAskedOnceTheOthersHaveWaited) {
  DecideRestore(bench_.job, bench_.decider());
  bench_.now = bench_.now + bench_.options.restore_wait;
  DecideRestore(bench_.job, bench_.decider());
  EXPECT_TRUE(IsTold());
  // It says that it looks, and what it has, and stays until others have it.
  bench_.Facts("w1").state = protocol::SeatState::kRecovering;
  DecideRestore(bench_.job, bench_.decider());
  EXPECT_TRUE(IsTold());
  Bring("w1");
  EXPECT_TRUE(IsTold());
  Bring("w0");
  EXPECT_FALSE(IsTold());
}

// Those that train still fetch and fold what they can.
TEST_F(LeftOutTest, IsAskedWhileOthersAreOnTheirWay) {
  Place& place = bench_.job.places["b"];
  place.workers = {"w2"};
  place.incarnations = {bench_.AddWorker("w2", "b")};
  place.holders = bench_.job.replicas.Find(life_)->holders;
  bench_.Facts("w2").state = protocol::SeatState::kRecovering;
  bench_.Fragment("w2").applied = Sequence(1);  // it reads that
  DecideRestore(bench_.job, bench_.decider());
  bench_.now = bench_.now + bench_.options.restore_wait;
  DecideRestore(bench_.job, bench_.decider());
  EXPECT_TRUE(IsTold());
}

// It has given its life up and reads what is on its disk. Nobody else has it.
TEST_F(LeftOutTest, IsNotReleasedWhileItReadsTheOnlyCopy) {
  bench_.Facts("w1").state = protocol::SeatState::kRecovering;
  FragmentFacts& facts = bench_.Fragment("w1");
  EXPECT_FALSE(IsTold());
  facts.bases = {{Sequence(1), 0, std::vector<uint64_t>(8, 7)}};
  EXPECT_TRUE(IsTold());
  facts.bases.clear();
  facts.applied = Sequence();
  facts.stored_through = Sequence(1);
  EXPECT_TRUE(IsTold());
  // Its trainer has not said where the values are; they are on the disk.
  facts.stored_through = Sequence();
  facts.last_result = Sequence(1);
  facts.last_result_attempt = bench_.job.fragments[0].history()[0].attempt;
  EXPECT_TRUE(IsTold());
  facts.last_result_attempt = Attempt(facts.last_result_attempt.value() + 1);
  EXPECT_FALSE(IsTold());
}

// The journal is an older one, from before the job had replicas.
TEST(JobOrdersTest, WhoHasAFolderOfAJobThatStandsIsAskedBeforeItHasAPlace) {
  JobBench bench;
  bench.Size();
  bench.AddWorker("w0", "a");
  StatusFacts status;
  status.self = {"w0", "w0:1", ""};
  status.island = "a";
  status.boot = bench.workers.FindCurrent("w0")->boot;
  status.counter = 2;
  status.stored.all.push_back({{bench.job.id, UidOf(bench.job)}});
  bench.workers.Heard(status, bench.now);
  EXPECT_FALSE(For(bench, "w0").has_value());
  bench.Emit(Diverged{bench.job.id, "w0", "holds more"});
  EXPECT_TRUE(For(bench, "w0").has_value());
}

TEST(JobOrdersTest, OnlyAProgramsWorkersAreToldWithWhichValuesTheJobBegins) {
  job::JobSpec from_checkpoint = job::ProgramJob("bench", 1000);
  from_checkpoint.model.checkpoint = job::JobSpec::Checkpoint{
      "/saved", "checkpoint-4", std::string(64, 'a'), job::Samples::kAnew, {}};
  for (const auto& [spec, wanted] :
       {std::pair{job::ProgramJob("bench", 1000), uint64_t{77}},
        std::pair{from_checkpoint, uint64_t{0}},
        std::pair{job::SmallJob("bench", 1000), uint64_t{0}}}) {
    JobBench bench(spec);
    bench.AddReplica("a", {"w0"});
    bench.job.initial_hash = 77;
    const auto orders =
        JobOrdersWriter(bench.job, bench.workers, bench.options, bench.now)
            .For("w0");
    ASSERT_TRUE(orders.has_value());
    EXPECT_EQ(orders->initial_hash, wanted);
  }
}

}  // namespace
}  // namespace skerry::coordinator
