#include "coordinator/core/rules/membership.h"

#include <utility>

#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

void Recover(JobBench& bench, const std::string& name, uint32_t begin,
             uint32_t end) {
  JobFacts& facts = bench.Facts(name);
  facts.state = protocol::SeatState::kRecovering;
  facts.life = Life();
  FragmentFacts& fragment = bench.Fragment(name);
  fragment.span_begin = begin;
  fragment.anchor_hashes.assign(end - begin, 5);
}

TEST(MembershipTest, AnIslandIsAdmittedWhenAllItsWorkersHaveRecovered) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  bench.AddWorker("w1", "a");
  bench.Size();
  DecideMembership(bench.job, bench.decider());
  const Place* place = PlaceOf(bench.job, "a", "w1");
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->holders[1].span_begin, 4u);
  Recover(bench, "w0", 0, 4);
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<ReplicaAdmitted>().empty());
  Recover(bench, "w1", 4, 8);
  DecideMembership(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<ReplicaAdmitted>().size(), 1u);
  EXPECT_EQ(bench.Decided<ReplicaAdmitted>()[0].holders.size(), 2u);
  EXPECT_EQ(bench.Decided<Planned>().size(), 1u);
}

TEST(MembershipTest, WorkersOnOtherSpansThanTheirPlaceAreNotReady) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  bench.Size();
  DecideMembership(bench.job, bench.decider());
  Recover(bench, "w0", 0, 7);
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<ReplicaAdmitted>().empty());
}

// The trainer of a program cannot compute with those of other workers.
TEST(MembershipTest, OneWorkerTrainsForAnIslandWhoseTrainersComputeAlone) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  bench.AddWorker("w1", "a");
  bench.AddWorker("w2", "b");
  bench.Size();
  DecideMembership(bench.job, bench.decider());
  ASSERT_EQ(bench.job.places.at("a").workers.size(), 2u);
  bench.Facts("w1").trains_alone = true;
  bench.job.places_stale = true;
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.places.at("a").workers, std::vector<std::string>{"w0"});
  EXPECT_EQ(bench.job.places.at("b").workers, std::vector<std::string>{"w2"});
  Recover(bench, "w0", 0, 8);
  Recover(bench, "w2", 0, 8);
  bench.Facts("w0").trains_alone = true;
  DecideMembership(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<ReplicaAdmitted>().size(), 2u);
  // The other one does not join the replica, and takes over when it is gone.
  bench.job.places_stale = true;
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.job.places.empty());
  LoseWorker(bench.job, bench.decider(), "w0", "a test");
  bench.Emit(
      WorkerLeft{"w0", bench.workers.FindCurrent("w0")->incarnation, "a test"});
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.places.at("a").workers, std::vector<std::string>{"w1"});
}

TEST(MembershipTest, TheJobStartsWhenTheWantedNumberIsThere) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.placement.workers_min = 2;
  JobBench bench(spec);
  bench.AddWorker("w0", "a");
  bench.Size();
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.job.places.empty());
  bench.AddWorker("w1", "b");
  DecideMembership(bench.job, bench.decider());
  Recover(bench, "w0", 0, 8);
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<ReplicaAdmitted>().empty());
  Recover(bench, "w1", 0, 8);
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<ReplicaAdmitted>().size(), 2u);
}

TEST(MembershipTest, AJobDoesNotBeginWhileNobodyCanSaveItsCheckpoints) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.checkpoint = job::JobSpec::Checkpoints{"/saved", 2, 2};
  JobBench bench(spec);
  bench.AddWorker("w0", "a");
  bench.Size();
  DecideMembership(bench.job, bench.decider());
  Recover(bench, "w0", 0, 8);
  bench.Facts("w0").checkpoint_trouble = "/saved: Read-only file system";
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<ReplicaAdmitted>().empty());
  bench.Facts("w0").checkpoint_trouble.clear();
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<ReplicaAdmitted>().size(), 1u);
  // One that has begun goes on.
  bench.Facts("w0").checkpoint_trouble = "/saved: Read-only file system";
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.replicas.current().size(), 1u);
}

TEST(MembershipTest, IslandsThatAreNotNamedHaveNoPlace) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.placement.islands = {"b"};
  JobBench bench(spec);
  bench.AddWorker("w0", "a");
  bench.Size();
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.job.places.empty());
}

TEST(MembershipTest, AJoinerRecoversBesideTheReplicaAndThenTakesOver) {
  JobBench bench;
  const Life old = bench.AddReplica("a", {"w0"});
  bench.AddWorker("w1", "a");
  DecideMembership(bench.job, bench.decider());
  EXPECT_NE(bench.job.replicas.Find(old), nullptr);
  const Place* place = PlaceOf(bench.job, "a", "w1");
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->workers, (std::vector<std::string>{"w0", "w1"}));
  // Something is pending, so the moment is not there.
  bench.Offer("w0", 1, 0, {0, 8});
  Recover(bench, "w1", 4, 8);
  DecideMembership(bench.job, bench.decider());
  EXPECT_NE(bench.job.replicas.Find(old), nullptr);
  bench.Fragment("w0").ready.reset();
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.replicas.Find(old), nullptr);
  Recover(bench, "w0", 0, 4);
  DecideMembership(bench.job, bench.decider());
  ASSERT_NE(bench.job.replicas.FindIsland("a"), nullptr);
  EXPECT_EQ(bench.job.replicas.FindIsland("a")->holders.size(), 2u);
}

// The replica holds fewer spans afterwards. The newest result of those it gives
// up may be nowhere else, and nobody would offer it.
TEST(MembershipTest, AJoinerThatLacksTheNewestResultTakesNothingOver) {
  JobBench bench;
  const Life old = bench.AddReplica("a", {"w0"});
  bench.Offer("w0", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  bench.Report("w0", 7);
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.job.fragments[0].newest(), Sequence(1));
  bench.Offer("w0", 2, 1, {8, 16});
  bench.AddWorker("w1", "a");
  DecideMembership(bench.job, bench.decider());
  Recover(bench, "w1", 4, 8);
  DecideMembership(bench.job, bench.decider());
  // It may be one behind at every moment that comes.
  bench.now = bench.now + bench.options.takeover_wait;
  DecideMembership(bench.job, bench.decider());
  EXPECT_NE(bench.job.replicas.Find(old), nullptr);
  bench.Fragment("w1").applied = Sequence(1);
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.replicas.Find(old), nullptr);
}

TEST(MembershipTest, AJoinerWaitsForAMomentWithoutPendingOnlySoLong) {
  JobBench bench;
  const Life old = bench.AddReplica("a", {"w0"});
  bench.AddWorker("w1", "a");
  DecideMembership(bench.job, bench.decider());
  bench.Offer("w0", 1, 0, {0, 8});
  Recover(bench, "w1", 4, 8);
  DecideMembership(bench.job, bench.decider());
  bench.now = bench.now + bench.options.takeover_wait;
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.replicas.Find(old), nullptr);
}

// It folds result after result, and its spans are seldom at one sequence.
TEST(MembershipTest, AJoinerThatFoldsOnIsAsCloseAsBefore) {
  JobBench bench;
  const Life old = bench.AddReplica("a", {"w0"});
  bench.Offer("w0", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  bench.Report("w0", 7);
  DecideExchange(bench.job, bench.decider());
  bench.Offer("w0", 2, 1, {8, 16});
  bench.AddWorker("w1", "a");
  DecideMembership(bench.job, bench.decider());
  Recover(bench, "w1", 4, 8);
  bench.Fragment("w1").applied = Sequence(1);
  DecideMembership(bench.job, bench.decider());
  const auto hashes = std::exchange(bench.Fragment("w1").anchor_hashes, {});
  bench.now = bench.now + bench.options.takeover_wait;
  DecideMembership(bench.job, bench.decider());
  EXPECT_NE(bench.job.replicas.Find(old), nullptr);
  bench.Fragment("w1").anchor_hashes = hashes;
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.replicas.Find(old), nullptr);
}

TEST(MembershipTest, AJoinInOneIslandDoesNotTouchAnother) {
  JobBench bench;
  const Life other = bench.AddReplica("b", {"w0"});
  bench.AddWorker("w1", "a");
  DecideMembership(bench.job, bench.decider());
  Recover(bench, "w1", 0, 8);
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<ReplicaEnded>().empty());
  EXPECT_NE(bench.job.replicas.Find(other), nullptr);
  EXPECT_EQ(bench.job.replicas.current().size(), 2u);
}

TEST(MembershipTest, ALostWorkerEndsTheLifeAndIsWaitedForAShortWhile) {
  JobBench bench;
  const Life old = bench.AddReplica("a", {"w0", "w1"});
  LoseWorker(bench.job, bench.decider(), "w1", "it died");
  bench.Emit(WorkerLeft{"w1", bench.workers.FindCurrent("w1")->incarnation,
                        "it died"});
  EXPECT_EQ(bench.job.replicas.Find(old), nullptr);
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.job.places.empty());
  Earliest due(bench.now);
  CollectMembership(bench.job, bench.options, due);
  EXPECT_EQ(due.found(), bench.now + bench.options.settle);
  bench.now = *due.found();
  DecideMembership(bench.job, bench.decider());
  const Place* place = PlaceOf(bench.job, "a", "w0");
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->workers.size(), 1u);
}

TEST(MembershipTest, ARestartedWorkerJoinsTheSamePlaceAtOnce) {
  JobBench bench;
  bench.AddReplica("a", {"w0", "w1"});
  LoseWorker(bench.job, bench.decider(), "w1", "it started anew");
  bench.AddWorker("w1", "a");
  DecideMembership(bench.job, bench.decider());
  const Place* place = PlaceOf(bench.job, "a", "w1");
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->workers.size(), 2u);
}

TEST(MembershipTest, AWorkerThatGivesItsLifeUpEndsIt) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.Facts("w0").life = Life();
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.replicas.Find(life), nullptr);
}

// What only one of them has on its disk is of no use for other spans.
TEST(MembershipTest, TheSameWorkersHoldTheSameSpansInEveryLife) {
  JobBench bench;
  bench.AddReplica("a", {"w1"});
  bench.AddWorker("w0", "a");
  DecideMembership(bench.job, bench.decider());
  const Place* first = PlaceOf(bench.job, "a", "w0");
  ASSERT_NE(first, nullptr);
  const std::vector<std::string> ranks = first->workers;
  EXPECT_EQ(ranks, (std::vector<std::string>{"w0", "w1"}));
  Recover(bench, "w0", 0, 4);
  DecideMembership(bench.job, bench.decider());
  Recover(bench, "w1", 4, 8);
  DecideMembership(bench.job, bench.decider());
  ASSERT_NE(bench.job.replicas.FindIsland("a"), nullptr);
  ASSERT_EQ(bench.job.replicas.FindIsland("a")->holders.size(), 2u);
  LoseWorker(bench.job, bench.decider(), "w1", "it started anew");
  bench.AddWorker("w1", "a");
  DecideMembership(bench.job, bench.decider());
  const Place* second = PlaceOf(bench.job, "a", "w0");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->workers, ranks);
}

TEST(MembershipTest, AnUnfitWorkerHasNoPlace) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.job.seats["w0"].unfit = "no device";
  bench.job.places_stale = true;
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.replicas.Find(life), nullptr);
  EXPECT_TRUE(bench.job.places.empty());
}

StatusFacts DrainOf(const JobBench& bench, const std::string& name) {
  StatusFacts status;
  status.self = bench.workers.FindCurrent(name)->self;
  status.counter = 2;
  status.draining = true;
  return status;
}

TEST(MembershipTest, ADrainingReplicaEndsAfterItsLastOutcome) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  bench.workers.Heard(DrainOf(bench, "w0"), bench.now);
  DecideMembership(bench.job, bench.decider());
  EXPECT_NE(bench.job.replicas.Find(life), nullptr);
  bench.Emit(Dropped{bench.job.id, FragmentId(0), life, Round(1), "", {}});
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.replicas.Find(life), nullptr);
  EXPECT_EQ(PlaceOf(bench.job, "a", "w0"), nullptr);
}

TEST(MembershipTest, ADrainIsOverWhenTheWorkerIsToServeAgain) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  bench.Emit(WorkerMarked{"w0", WorkerIntent::kDrain});
  DecideMembership(bench.job, bench.decider());
  EXPECT_TRUE(bench.job.draining.contains(life));
  bench.Emit(WorkerMarked{"w0", WorkerIntent::kServe});
  DecideMembership(bench.job, bench.decider());
  EXPECT_FALSE(bench.job.draining.contains(life));
  bench.Emit(Dropped{bench.job.id, FragmentId(0), life, Round(1), "", {}});
  DecideMembership(bench.job, bench.decider());
  EXPECT_NE(bench.job.replicas.Find(life), nullptr);
}

TEST(MembershipTest, ACordonedWorkerKeepsItsLifeAndGetsNoOther) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.Emit(WorkerMarked{"w0", WorkerIntent::kCordon});
  DecideMembership(bench.job, bench.decider());
  EXPECT_NE(bench.job.replicas.Find(life), nullptr);
  EndLife(bench.job, bench.decider(), life, "it is over");
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(PlaceOf(bench.job, "a", "w0"), nullptr);
}

TEST(MembershipTest, TheOnlyHolderOfTheStateIsNotLetGo) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.workers.Heard(DrainOf(bench, "w0"), bench.now);
  bench.now = bench.now + 2 * bench.options.lease;
  DecideMembership(bench.job, bench.decider());
  EXPECT_NE(bench.job.replicas.Find(life), nullptr);
  EXPECT_FALSE(IsCoveredWithout(bench.job, bench.workers, "w0"));
}

TEST(MembershipTest, WhoAloneHasTheNewestResultIsNotLetGo) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  bench.workers.LoseStream("w1", bench.workers.FindCurrent("w1")->boot,
                           bench.now);
  bench.Offer("w0", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  bench.Report("w0", 7);
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.job.fragments[0].newest(), Sequence(1));
  EXPECT_FALSE(IsCoveredWithout(bench.job, bench.workers, "w0"));
  bench.Fragment("w1").stored_through = Sequence(1);
  EXPECT_TRUE(IsCoveredWithout(bench.job, bench.workers, "w0"));
}

TEST(MembershipTest, AWorkerWithTooManyJobsBeforeThisOneHasNoPlace) {
  JobBench bench;
  bench.options.seats_max = 1;
  bench.AddWorker("w0", "a");
  bench.Size();
  const auto one_before = [](JobId) {
    Turn turn;
    turn.before["a"] = 1;
    return turn;
  };
  const auto emit = [](Record) {};
  DecideMembership(bench.job, Decider{bench.now, bench.options, bench.workers,
                                      one_before, emit});
  EXPECT_TRUE(bench.job.places.empty());
}

}  // namespace
}  // namespace skerry::coordinator
