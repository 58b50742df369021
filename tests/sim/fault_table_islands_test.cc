// The faults of PROTOCOL 9 that meet a part of a replica, its links, its speed
// or its neighbours: who is left out, who is carried, and whose life goes on.
#include <algorithm>
#include <optional>
#include <vector>

#include "coordinator/core/log/records.h"
#include "gtest/gtest.h"
#include "planner/span_alignment.h"
#include "simulator/worker_node.h"
#include "tests/sim/fault_table.h"

namespace skerry::sim {
namespace {

using coordinator::Committed;
using coordinator::Dropped;
using coordinator::Opened;
using coordinator::ReplicaAdmitted;
using coordinator::ReplicaEnded;
using protocol::Member;

class IslandOfTwoTest : public FaultTableTest {
 protected:
  IslandOfTwoTest() : FaultTableTest(OneOfTwo()) {}
  static Schedule OneOfTwo() {
    Schedule schedule = Calm({"a", "a", "b", "c"});
    // A span each.
    schedule.jobs[0].elements = planner::SpanAlignment() + 64;
    return schedule;
  }
};

TEST_F(IslandOfTwoTest, OneStageThatDiesEndsTheLifeOfItsReplica) {
  std::optional<Member> pair;
  ASSERT_TRUE(Until([&] {
    const auto open = Open(3);
    if (!open.has_value()) return false;
    for (const Member& member : open->second.members) {
      if (member.holders.size() == 2) pair = member;
    }
    return pair.has_value();
  }));
  const Life life = pair->life;
  const HostId dies = EndpointOf(pair->holders[0].peer.address).host;
  const HostId other = EndpointOf(pair->holders[1].peer.address).host;
  const uint64_t run = world_.machine(other).run;
  Inject(FaultKind::kKill, dies, absl::Seconds(1));
  ASSERT_TRUE(Until([&] { return Ended(life); }));
  // Both of them begin the next one, from the disks that they have.
  for (const HostId host : {dies, other}) {
    ASSERT_TRUE(Until(
        [&] { return watcher_.facts[host].life > life && IsActive(host); }));
  }
  EXPECT_EQ(world_.machine(other).run, run);
  EndsWell();
  for (const auto& [index, opening] : All<Opened>()) {
    for (const auto& [ended_at, ended] : All<ReplicaEnded>()) {
      EXPECT_FALSE(ended_at < index && Names(opening, ended.life));
    }
  }
}

TEST_F(FaultTableTest, WhoIsCutOffFromItsPeersOnlyIsCarriedThenDropped) {
  ASSERT_TRUE(OpensLate());
  const Opened opened = Open(3)->second;
  const Member cut = opened.members[2];
  for (const Member& peer : opened.members) {
    if (peer.life == cut.life) continue;
    CutOff(HostOf(cut), HostOf(peer), absl::Seconds(8));
  }
  const Sequence sequence = opened.sequence;
  ASSERT_TRUE(Commits(sequence));
  EXPECT_FALSE(Names(WhatCommitted(sequence), cut.life));
  // What it holds is too old in the end, and its samples return.
  ASSERT_TRUE(Until([&] {
    const auto dropped = All<Dropped>();
    return std::any_of(dropped.begin(), dropped.end(), [&](const auto& one) {
      return one.second.life == cut.life;
    });
  }));
  EXPECT_FALSE(Ended(cut.life));
  // It is a member again, in the same life.
  const Sequence newest = All<Committed>().back().second.sequence;
  ASSERT_TRUE(Until([&] {
    const Committed& commit = All<Committed>().back().second;
    return newest < commit.sequence &&
           Names(WhatCommitted(commit.sequence), cut.life);
  }));
  EndsWell();
}

class HastyTest : public FaultTableTest {
 protected:
  HastyTest() : FaultTableTest(TwoOfThreeSuffice()) {}
  static Schedule TwoOfThreeSuffice() {
    Schedule schedule = Calm({"a", "b", "c"});
    schedule.jobs[0].quorum = 0.6;
    return schedule;
  }
};

TEST_F(HastyTest, ASlowReplicaIsLeftOutAndKeepsItsLife) {
  ASSERT_TRUE(OpensLate());
  const Member slow = Open(3)->second.members[2];
  ASSERT_TRUE(Commits(Open(3)->second.sequence));
  Inject(FaultKind::kPause, HostOf(slow), absl::Seconds(1));
  const auto newest = [&] {
    return WhatCommitted(All<Committed>().back().second.sequence);
  };
  ASSERT_TRUE(Until([&] { return !Names(newest(), slow.life); }));
  ASSERT_TRUE(Until([&] { return Names(newest(), slow.life); }));
  EndsWell();
  EXPECT_EQ(All<ReplicaAdmitted>().size(), 3u);
}

class FourIslandsTest : public FaultTableTest {
 protected:
  FourIslandsTest() : FaultTableTest(Calm({"a", "b", "c", "d"})) {}
  // A life is the revision that admitted it.
  static Life LifeOf(Revision at, const ReplicaAdmitted&) {
    return Life(at.value());
  }
  static Life LifeOf(Revision, const ReplicaEnded& ended) { return ended.life; }
  // Whether the job's replicas changed while an attempt was open which then
  // committed, and which did not name who came or went.
  template <typename Change>
  bool ChangedDuringAnExchange() const {
    for (const auto& [committed_at, commit] : All<Committed>()) {
      const Opened opened = WhatCommitted(commit.sequence);
      const uint64_t opened_at = commit.attempt.value();
      for (const auto& [changed_at, change] : All<Change>()) {
        if (opened_at < changed_at.value() && changed_at < committed_at &&
            !Names(opened, LifeOf(changed_at, change))) {
          return true;
        }
      }
    }
    return false;
  }
};

TEST_F(FourIslandsTest, OthersJoinAndLeaveWhileAnAttemptIsOpen) {
  const HostId comes_and_goes = 4;
  ASSERT_TRUE(OpensLate(4));
  while (!ChangedDuringAnExchange<ReplicaAdmitted>() ||
         !ChangedDuringAnExchange<ReplicaEnded>()) {
    const Life life = watcher_.facts[comes_and_goes].life;
    Inject(FaultKind::kKill, comes_and_goes, absl::Milliseconds(100));
    ASSERT_TRUE(Until([&] {
      return watcher_.facts[comes_and_goes].life > life &&
             IsActive(comes_and_goes);
    }));
  }
  EndsWell();
}

}  // namespace
}  // namespace skerry::sim
