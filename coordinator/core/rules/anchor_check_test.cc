#include "coordinator/core/rules/anchor_check.h"

#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

void Anchor(JobBench& bench, const std::string& name, uint64_t sequence,
            uint64_t hash) {
  FragmentFacts& fragment = bench.Fragment(name);
  fragment.applied = Sequence(sequence);
  for (uint64_t& one : fragment.anchor_hashes) one = hash;
  NoteAnchors(bench.job, name);
}

TEST(AnchorCheckTest, TheSmallerSetEndsWhenAllHaveReported) {
  JobBench bench;
  const Life odd = bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  bench.AddReplica("c", {"w2"});
  Anchor(bench, "w0", 3, 7);
  Anchor(bench, "w1", 3, 8);
  CheckAnchors(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<ReplicaEnded>().empty());
  Anchor(bench, "w2", 3, 8);
  CheckAnchors(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<ReplicaEnded>().size(), 1u);
  EXPECT_EQ(bench.Decided<ReplicaEnded>()[0].life, odd);
}

TEST(AnchorCheckTest, OnATieTheLowestReplicaStays) {
  JobBench bench;
  const Life low = bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  Anchor(bench, "w0", 3, 9);
  Anchor(bench, "w1", 3, 8);
  CheckAnchors(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<ReplicaEnded>().size(), 1u);
  EXPECT_NE(bench.job.replicas.Find(low), nullptr);
}

TEST(AnchorCheckTest, DifferentSequencesAreNotCompared) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  Anchor(bench, "w0", 3, 9);
  Anchor(bench, "w1", 4, 8);
  CheckAnchors(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<ReplicaEnded>().empty());
}

TEST(AnchorCheckTest, WhatIsRememberedHasABound) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  for (uint64_t sequence = 1; sequence < 100; ++sequence) {
    Anchor(bench, "w0", sequence, 1);
  }
  EXPECT_LE(bench.job.anchors.size(), 8u);
}

}  // namespace
}  // namespace skerry::coordinator
