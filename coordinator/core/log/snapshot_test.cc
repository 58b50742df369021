#include "coordinator/core/log/snapshot.h"

#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "gtest/gtest.h"
#include "tests/sim/fault_table.h"

namespace skerry::coordinator {
namespace {

// Returns the state of a cluster whose job has ended, with commits, lives and
// evaluations behind it.
const ClusterSnapshot& Saved() {
  static const auto* const saved =
      new ClusterSnapshot(sim::Replayed(sim::QuietJournal())->Save());
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

// Several jobs wait for their turn, operators hold jobs and mark workers, and
// processes die. A snapshot is taken at several records of each journal.
TEST(SnapshotTest, ASnapshotAndItsTailAreTheWholeJournal) {
  constexpr size_t kSnapshots = 5;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<Entry> journal =
        sim::JournalOf(*sim::DrawSchedule(seed, "all", {.queue = true}));
    const auto whole = sim::Replayed(journal);
    for (size_t i = 1; i <= kSnapshots; ++i) {
      const auto middle = journal.begin() + journal.size() * i / kSnapshots;
      Cluster cluster{ClusterOptions()};
      const auto head = sim::Replayed({journal.begin(), middle});
      ASSERT_TRUE(cluster.Restore(head->Save()).ok());
      for (auto entry = middle; entry != journal.end(); ++entry) {
        ASSERT_TRUE(cluster.Apply(*entry).ok());
      }
      EXPECT_EQ(cluster.StateHash(), whole->StateHash());
      EXPECT_TRUE(cluster.Save() == whole->Save());
      for (const JobSnapshot& job : whole->Save().jobs) {
        EXPECT_TRUE(*cluster.Audit(job.job) == *whole->Audit(job.job));
      }
    }
  }
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
