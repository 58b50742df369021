#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/testing/scripted_world.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"

namespace skerry::coordinator {
namespace {

// Worlds of each kind: a few everywhere, and as many as SKERRY_TEST_SEEDS says
// in the slow twin of this test.
uint64_t Seeds() {
  const char* given = std::getenv("SKERRY_TEST_SEEDS");
  return given == nullptr ? 5 : std::strtoull(given, nullptr, 10);
}

void ExpectAllDone(const WorldOptions& options) {
  SCOPED_TRACE(absl::StrCat("seed ", options.seed));
  ScriptedWorld world(options);
  world.Run();
  ASSERT_EQ(world.broken(), "");
  for (const JobView& view : world.cluster().ViewJobs(world.now())) {
    EXPECT_EQ(view.phase, JobPhase::kSucceeded) << view.reason;
    EXPECT_EQ(view.samples_committed, view.samples_total);
    const auto audit = world.cluster().Audit(view.id);
    ASSERT_TRUE(audit.ok());
    EXPECT_TRUE(audit->missing.empty());
    EXPECT_TRUE(audit->doubled.empty());
  }
  ScriptedWorld again(options);
  again.Run();
  EXPECT_EQ(again.JournalHash(), world.JournalHash());
}

WorldOptions Faults(uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  options.lose = 0.05;
  options.repeat = 0.1;
  options.kill = 0.0015;
  options.drain = 0.0003;
  options.crash = 0.002;
  return options;
}

TEST(ClusterPropertyTest, ACalmClusterTrainsOnEverySample) {
  WorldOptions options;
  options.seed = 7;
  options.islands = {"a", "b", "c"};
  options.jobs = {job::SmallJob("calm", 1000)};
  ExpectAllDone(options);
}

TEST(ClusterPropertyTest, FaultsLoseNoSampleAndDoubleNone) {
  for (uint64_t seed = 1; seed < 1 + Seeds(); ++seed) {
    WorldOptions options = Faults(seed);
    options.islands = {"a", "b", "c"};
    options.jobs = {job::SmallJob("faulty", 3000)};
    ExpectAllDone(options);
  }
}

TEST(ClusterPropertyTest, ASlowReplicaIsCarriedNoFurtherThanItsBound) {
  for (uint64_t seed = 1001; seed < 1001 + Seeds(); ++seed) {
    WorldOptions options = Faults(seed);
    options.islands = {"a", "b", "c", "d"};
    options.jobs = {job::SmallJob("delayed", 3000)};
    options.jobs[0].outer.method = job::OuterMethod::kCo2;
    options.jobs[0].exchange.quorum = 0.5;
    options.jobs[0].exchange.carry = 0;
    options.slowness = 20;
    ExpectAllDone(options);
  }
}

TEST(ClusterPropertyTest, ReplicasOfTwoWorkersHoldDifferentSpans) {
  for (uint64_t seed = 2001; seed < 2001 + Seeds(); ++seed) {
    WorldOptions options = Faults(seed);
    options.islands = {"a", "a", "b", "b"};
    options.jobs = {job::SmallJob("wide", 3000)};
    ExpectAllDone(options);
  }
}

// Some with a replica of two workers, some delayed, some that wait for two.
TEST(ClusterPropertyTest, FragmentsAreExchangedInTurn) {
  for (uint64_t seed = 8001; seed < 8001 + 3 * Seeds(); ++seed) {
    WorldOptions options = Faults(seed);
    options.snapshot = 0.01;
    options.pause = seed % 2 == 0 ? 0.002 : 0;
    options.islands = {"a", "b", "c"};
    if (seed % 3 == 0) options.islands.push_back("a");
    options.jobs = {job::SmallJob("parts", 2000)};
    options.jobs[0].exchange.fragments = 2 + seed % 2;
    options.jobs[0].training.tau = 2 * options.jobs[0].exchange.fragments;
    if (seed % 4 == 1) options.jobs[0].outer.method = job::OuterMethod::kCo2;
    if (seed % 5 == 1) options.jobs[0].exchange.quorum = 0.5;
    ExpectAllDone(options);
  }
}

TEST(ClusterPropertyTest, WithoutFaultsNoFragmentLacksAnything) {
  WorldOptions options;
  options.seed = 9;
  options.islands = {"a", "b", "c"};
  options.jobs = {job::SmallJob("parts", 1000)};
  options.jobs[0].exchange.fragments = 3;
  options.jobs[0].training.tau = 6;
  ScriptedWorld world(options);
  world.Run();
  ASSERT_EQ(world.broken(), "");
  const JobView view = world.cluster().ViewJobs(world.now()).front();
  EXPECT_EQ(view.phase, JobPhase::kSucceeded) << view.reason;
  EXPECT_EQ(world.cluster().Audit(view.id)->samples_partly, 0u);
  EXPECT_EQ(view.samples_partly, 0u);
}

TEST(ClusterPropertyTest, TwoJobsShareFourWorkers) {
  for (uint64_t seed = 3001; seed < 3001 + Seeds(); ++seed) {
    WorldOptions options = Faults(seed);
    options.islands = {"a", "b", "c", "d"};
    options.jobs = {job::SmallJob("one", 1500), job::SmallJob("two", 1500)};
    ExpectAllDone(options);
  }
}

// Five jobs for workers that take one or two at a time: nobody overtakes,
// nobody is put out, and every job gets its turn.
TEST(ClusterPropertyTest, JobsTakeTurnsByPriority) {
  for (uint64_t seed = 7001; seed < 7001 + Seeds(); ++seed) {
    WorldOptions options = Faults(seed);
    options.seats_max = 1 + seed % 2;
    options.snapshot = 0.01;
    options.islands = {"a", "b", "c"};
    for (const char* name : {"one", "two", "three", "four", "five"}) {
      options.jobs.push_back(job::SmallJob(name, 400));
    }
    options.jobs[2].queue.priority = 10;
    options.jobs[3].queue.priority = -10;
    options.jobs[4].queue.priority = 10;
    ExpectAllDone(options);
  }
}

// Every recovery of these histories starts from a snapshot, if there is one,
// and is compared with the replay of all records.
TEST(ClusterPropertyTest, ASnapshotAndItsTailAreTheWholeJournal) {
  uint64_t snapshots = 0;
  for (uint64_t seed = 5001; seed < 5001 + Seeds(); ++seed) {
    WorldOptions options = Faults(seed);
    options.crash = 0.005;
    options.snapshot = 0.02;
    options.islands = {"a", "a", "b", "c"};
    options.jobs = {job::SmallJob("one", 1500), job::SmallJob("two", 1500)};
    options.jobs[1].outer.method = job::OuterMethod::kCo2;
    ExpectAllDone(options);
    ScriptedWorld world(options);
    world.Run();
    EXPECT_GT(world.crashes(), 0u);
    snapshots += world.snapshots();
  }
  EXPECT_GT(snapshots, 10 * Seeds());
}

// Pauses and drains come and go among faults; nothing is lost or doubled, a
// paused job gets no samples, and once all go on every job ends.
TEST(ClusterPropertyTest, OperatorsMayHoldJobsAndDrainWorkersAtAnyTime) {
  uint64_t pauses = 0;
  uint64_t marks = 0;
  for (uint64_t seed = 6001; seed < 6001 + Seeds(); ++seed) {
    WorldOptions options = Faults(seed);
    options.pause = 0.005;
    options.mark = 0.005;
    options.snapshot = 0.01;
    options.islands = {"a", "a", "b", "c"};
    options.jobs = {job::SmallJob("one", 1500), job::SmallJob("two", 1500)};
    options.jobs[1].outer.method = job::OuterMethod::kCo2;
    ExpectAllDone(options);
    ScriptedWorld world(options);
    world.Run();
    pauses += world.pauses();
    marks += world.marks();
  }
  EXPECT_GT(pauses, Seeds());
  EXPECT_GT(marks, Seeds());
}

TEST(ClusterPropertyTest, WorkersThatReportWrongHashesCorruptNothing) {
  for (uint64_t seed = 4001; seed < 4001 + Seeds(); ++seed) {
    WorldOptions options = Faults(seed);
    options.lie = 0.2;
    options.kill = 0;
    options.drain = 0;
    options.islands = {"a", "b", "c"};
    options.jobs = {job::SmallJob("lies", 2000)};
    ExpectAllDone(options);
  }
}

}  // namespace
}  // namespace skerry::coordinator
