#include "coordinator/core/log/round_machine.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

Opened Open(uint64_t sequence, std::vector<uint64_t> replicas) {
  Opened opened;
  opened.sequence = Sequence(sequence);
  for (const uint64_t replica : replicas) {
    Member member;
    member.replica = ReplicaId(replica);
    member.life = Life(100 + replica);
    member.contribution = {
        Round(1),
        Sequence(),
        8,
        data::RangeSet(data::SampleRange{8 * replica, 8 * replica + 8}),
        {}};
    opened.members.push_back(member);
  }
  return opened;
}

Committed Commit(uint64_t sequence, uint64_t attempt) {
  Committed commit;
  commit.sequence = Sequence(sequence);
  commit.attempt = Attempt(attempt);
  return commit;
}

TEST(RoundMachineTest, OnlyTheOpenAttemptCanCommit) {
  RoundMachine machine{FragmentId(0)};
  ASSERT_TRUE(machine.Apply(Attempt(10), Open(1, {1, 2})).ok());
  ASSERT_TRUE(machine.Apply(Attempt(11), Open(1, {1})).ok());
  EXPECT_FALSE(machine.Apply(Commit(1, 10), 8).ok());
  EXPECT_TRUE(machine.Apply(Commit(1, 11), 8).ok());
  EXPECT_FALSE(machine.Apply(Commit(2, 11), 8).ok());
}

TEST(RoundMachineTest, WhoIsLeftOutIsBlamedUntilTheSequenceCommits) {
  RoundMachine machine{FragmentId(0)};
  ASSERT_TRUE(machine.Apply(Attempt(10), Open(1, {1, 2})).ok());
  ASSERT_TRUE(machine.Apply(Attempt(11), Open(1, {1})).ok());
  EXPECT_TRUE(machine.blamed().contains(ReplicaId(2)));
  ASSERT_TRUE(machine.Apply(Attempt(12), Open(1, {2})).ok());
  EXPECT_FALSE(machine.blamed().contains(ReplicaId(2)));
  EXPECT_TRUE(machine.blamed().contains(ReplicaId(1)));
  ASSERT_TRUE(machine.Apply(Commit(1, 12), 8).ok());
  EXPECT_TRUE(machine.blamed().empty());
  EXPECT_EQ(machine.tries(), 0u);
}

TEST(RoundMachineTest, ACarriedContributionHasNoOutcomeYet) {
  RoundMachine machine{FragmentId(0)};
  ASSERT_TRUE(machine.Apply(Attempt(10), Open(1, {1, 2})).ok());
  ASSERT_TRUE(machine.Apply(Attempt(11), Open(1, {1})).ok());
  ASSERT_TRUE(machine.Apply(Commit(1, 11), 8).ok());
  EXPECT_EQ(machine.OutcomeOf(Life(101))->kind, Outcome::Kind::kCommitted);
  EXPECT_EQ(machine.OutcomeOf(Life(101))->attempt, Attempt(11));
  EXPECT_FALSE(machine.OutcomeOf(Life(102)).has_value());
}

TEST(RoundMachineTest, AnEndedMemberStaysInItsAttemptAndIsThenForgotten) {
  RoundMachine machine{FragmentId(0)};
  ASSERT_TRUE(machine.Apply(Attempt(10), Open(1, {1, 2})).ok());
  machine.Apply(ReplicaEnded{JobId(1), Life(102), ""});
  EXPECT_EQ(machine.NamedRanges().total(), 16u);
  ASSERT_TRUE(machine.Apply(Commit(1, 10), 16).ok());
  EXPECT_FALSE(machine.OutcomeOf(Life(102)).has_value());
}

TEST(RoundMachineTest, WhatTheOpenAttemptNamesCannotBeDropped) {
  RoundMachine machine{FragmentId(0)};
  ASSERT_TRUE(machine.Apply(Attempt(10), Open(1, {1})).ok());
  Dropped dropped;
  dropped.life = Life(101);
  dropped.round = Round(1);
  EXPECT_FALSE(machine.Apply(dropped).ok());
  dropped.life = Life(102);
  EXPECT_TRUE(machine.Apply(dropped).ok());
  EXPECT_EQ(machine.OutcomeOf(Life(102))->kind, Outcome::Kind::kDropped);
}

TEST(RoundMachineTest, SequencesAreNotSkipped) {
  RoundMachine machine{FragmentId(0)};
  EXPECT_FALSE(machine.Apply(Attempt(10), Open(2, {1})).ok());
}

}  // namespace
}  // namespace skerry::coordinator
