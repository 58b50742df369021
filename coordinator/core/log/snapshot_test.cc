#include "coordinator/core/log/snapshot.h"

#include <string>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/scripted_world.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"

namespace skerry::coordinator {
namespace {

// Returns the state of a cluster whose job has ended, with commits, lives and
// evaluations behind it.
const ClusterSnapshot& Saved() {
  static const ClusterSnapshot* const saved = [] {
    WorldOptions options;
    options.seed = 3;
    options.islands = {"a", "b"};
    options.jobs = {job::SmallJob("job", 500)};
    ScriptedWorld world(options);
    world.Run();
    EXPECT_EQ(world.broken(), "");
    return new ClusterSnapshot(world.cluster().Save());
  }();
  return *saved;
}

absl::Status RestoreOf(const ClusterSnapshot& snapshot) {
  Cluster cluster{ClusterOptions()};
  return cluster.Restore(snapshot);
}

void ExpectRefused(const ClusterSnapshot& snapshot, const std::string& part) {
  const absl::Status status = RestoreOf(snapshot);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_NE(status.ToString().find(part), std::string::npos) << status;
}

TEST(SnapshotTest, ARestoredClusterIsTheOneThatWasSaved) {
  Cluster cluster{ClusterOptions()};
  ASSERT_TRUE(cluster.Restore(Saved()).ok());
  EXPECT_EQ(cluster.StateHash(), Saved().state_hash);
  EXPECT_EQ(cluster.revision(), Saved().revision);
  EXPECT_TRUE(cluster.Save() == Saved());
  cluster.CheckInvariants();
  const auto audit = cluster.Audit(Saved().jobs[0].job);
  ASSERT_TRUE(audit.ok());
  EXPECT_EQ(audit->samples_committed, 500u);
  EXPECT_EQ(audit->commits, Saved().jobs[0].fragments[0].history.size());
}

TEST(SnapshotTest, AnotherStateThanTheSavedIsRefused) {
  ClusterSnapshot snapshot = Saved();
  snapshot.workers[0].boot = Boot(1);
  ExpectRefused(snapshot, "not the one that was saved");
}

TEST(SnapshotTest, AGapInTheHistoryIsRefused) {
  ClusterSnapshot snapshot = Saved();
  auto& history = snapshot.jobs[0].fragments[0].history;
  history.erase(history.begin() + 1);
  ExpectRefused(snapshot, "sequence 2 is missing");
}

TEST(SnapshotTest, ALedgerThatLosesASampleIsRefused) {
  ClusterSnapshot snapshot = Saved();
  data::RangeSet& consumed = snapshot.jobs[0].ledger.consumed;
  consumed = consumed.Subtract({consumed.ranges().front()});
  ExpectRefused(snapshot, "the ledger does not hold each of 500 samples once");
}

TEST(SnapshotTest, WhatIsThereTwiceIsRefused) {
  ClusterSnapshot snapshot = Saved();
  snapshot.jobs.push_back(snapshot.jobs[0]);
  ExpectRefused(snapshot, "is there twice");
  snapshot = Saved();
  snapshot.workers.push_back(snapshot.workers[0]);
  ExpectRefused(snapshot, "is there twice");
}

TEST(SnapshotTest, ReplicasAndFragmentsHaveToBeWhole) {
  ClusterSnapshot snapshot = Saved();
  snapshot.jobs[0].replicas.current.push_back({});
  ExpectRefused(snapshot, "without its workers");
  snapshot = Saved();
  snapshot.jobs[0].fragments.clear();
  ExpectRefused(snapshot, "0 fragments instead of 1");
}

}  // namespace
}  // namespace skerry::coordinator
