#include "coordinator/convert/snapshot.h"

#include <string>

#include "coordinator/core/cluster.h"
#include "gtest/gtest.h"
#include "tests/sim/fault_table.h"

namespace skerry::coordinator {
namespace {

// Jobs among faults, cut off in the middle: attempts are open, lives and
// contributions have ended, samples have come back, operators hold jobs and
// mark workers.
ClusterSnapshot MidTraining(uint64_t seed) {
  const auto journal =
      sim::JournalOf(*sim::DrawSchedule(seed, "operators", {.queue = true}));
  return sim::Replayed({journal.begin(), journal.begin() + journal.size() / 2})
      ->Save();
}

EventHistory SomeEvents() {
  return {{{Revision(3), JobId(2), "job.submitted", "why"},
           {Revision(4), JobId(), "worker.admitted", ""}},
          {{JobId(2), Revision(9)}}};
}

TEST(SnapshotConvertTest, EveryStateComesBackAsItWas) {
  bool open = false;
  bool holding = false;
  bool paused = false;
  bool marked = false;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const ClusterSnapshot state = MidTraining(seed);
    std::string bytes;
    ASSERT_TRUE(SnapshotToProto(state, SomeEvents()).SerializeToString(&bytes));
    v1::JournalSnapshot read;
    ASSERT_TRUE(read.ParseFromString(bytes));
    const auto back = SnapshotFromProto(read);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(*back == state) << "seed " << seed;
    EXPECT_EQ(EventsFromProto(read), SomeEvents());
    Cluster cluster{ClusterOptions()};
    EXPECT_TRUE(cluster.Restore(*back).ok());
    for (const JobSnapshot& job : state.jobs) {
      open |= job.fragments[0].open.has_value();
      holding |= !job.ledger.holdings.empty();
      paused |= job.paused;
    }
    for (const WorkerSnapshot& worker : state.workers) {
      marked |= worker.intent != WorkerIntent::kServe;
    }
  }
  EXPECT_TRUE(open);
  EXPECT_TRUE(holding);
  EXPECT_TRUE(paused);
  EXPECT_TRUE(marked);
}

TEST(SnapshotConvertTest, CheckpointsAndTotalsComeBackAsTheyWere) {
  ClusterSnapshot state = MidTraining(1);
  ASSERT_FALSE(state.jobs.empty());
  JobSnapshot& job = state.jobs[0];
  job.checkpoints = {
      {job.job, Sequence(3), "w", "abc", 100, "", {{0, 8}, {16, 24}}}};
  job.restored = Restored{job.job, Sequence(9), Sequence(3), "why"};
  job.coverage.covered = {{{0, 8}, {16, 24}}, {{0, 8}}};
  job.coverage.taken = {{FragmentId(0), Sequence(2), {{0, 8}}},
                        {FragmentId(1), Sequence(3), {{16, 24}}}};
  job.ledger.holdings = {
      {Life(9), {{32, 40}}, {}, false, {{}, {{16, 24}}}, {{{32, 36}}, {}}}};
  job.counted = {{"w", {1, 2, 0.5, 0.25, 3, 4, 5}}};
  job.totals = {10, 20, 5, 2.5, 30, 40, 50};
  const auto back = SnapshotFromProto(SnapshotToProto(state, {}));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(*back == state);
}

TEST(SnapshotConvertTest, WhatCannotBeInAStateIsDataLoss) {
  const v1::JournalSnapshot good = SnapshotToProto(MidTraining(1), {});
  v1::JournalSnapshot bad = good;
  bad.mutable_workers(0)->clear_self();
  EXPECT_EQ(SnapshotFromProto(bad).status().code(),
            absl::StatusCode::kDataLoss);
  bad = good;
  bad.mutable_jobs(0)->clear_phase();
  EXPECT_EQ(SnapshotFromProto(bad).status().code(),
            absl::StatusCode::kDataLoss);
  bad = good;
  bad.mutable_jobs(0)->mutable_fragments(0)->add_outcomes();
  EXPECT_EQ(SnapshotFromProto(bad).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace skerry::coordinator
