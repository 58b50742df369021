// A fault of PROTOCOL 9 a test, most of them a process that dies: a whole
// cluster, the fault at the moment that the table names, and what the
// coordinator's journal says afterwards. All checkers watch, and the job has to
// end with every sample taken in.
#include "tests/sim/fault_table.h"

#include <algorithm>
#include <optional>

#include "coordinator/core/log/records.h"
#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

using coordinator::Committed;
using coordinator::Opened;
using coordinator::ReplicaAdmitted;
using protocol::Member;

TEST_F(FaultTableTest, AMemberThatDiesBeforeItsFramesAreOutIsLeftOut) {
  ASSERT_TRUE(OpensLate());
  const Opened opened = Open(3)->second;
  const Member dies = opened.members[1];
  Inject(FaultKind::kKill, HostOf(dies), absl::Seconds(3));
  ASSERT_TRUE(Commits(opened.sequence));
  const Opened committed = WhatCommitted(opened.sequence);
  EXPECT_EQ(committed.members.size(), 2u);
  EXPECT_FALSE(Names(committed, dies.life));
  EndsWell();
}

TEST_F(FaultTableTest, AMemberThatDiesAfterItsFramesStaysInTheSum) {
  const std::optional<Member> last = LastWithoutAResult();
  ASSERT_TRUE(last.has_value());
  const Sequence sequence = Open(3)->second.sequence;
  Inject(FaultKind::kKill, HostOf(*last), absl::Seconds(3));
  ASSERT_TRUE(Commits(sequence));
  EXPECT_TRUE(Names(WhatCommitted(sequence), last->life));
  EXPECT_EQ(WhatCommitted(sequence).members.size(), 3u);
  EndsWell();
}

TEST_F(FaultTableTest, AMemberThatDiesAfterItsReportStaysInTheSum) {
  std::optional<Member> first;
  ASSERT_TRUE(Until([&] {
    const auto open = Open(3);
    if (!open.has_value() || open->second.sequence < Sequence(5)) return false;
    for (const Member& member : open->second.members) {
      if (HasStored(HostOf(member), open->first)) first = member;
    }
    return first.has_value();
  }));
  const auto open = Open(3);
  Inject(FaultKind::kKill, HostOf(*first), absl::Seconds(1));
  ASSERT_TRUE(Commits(open->second.sequence));
  if (CommitOf(open->second.sequence)->attempt == open->first) {
    EXPECT_TRUE(Names(WhatCommitted(open->second.sequence), first->life));
  }
  EXPECT_TRUE(Until([&] { return IsActive(HostOf(*first)); }));
  EndsWell();
}

TEST_F(FaultTableTest, AnOwnerThatDiesPartwayHoldsNothingUp) {
  std::optional<Member> owner;
  ASSERT_TRUE(Until([&] {
    const auto open = Open(3);
    if (!open.has_value() || open->second.sequence < Sequence(5)) return false;
    const uint32_t index = open->second.owners.front();
    owner = open->second.members[index];
    size_t heard = 0;
    for (const Member& member : open->second.members) {
      for (const auto& one : Fragment(HostOf(member)).progress) {
        heard += one.replica == owner->replica && one.bytes > 0 ? 1 : 0;
      }
    }
    return heard > 0;
  }));
  const Sequence sequence = Open(3)->second.sequence;
  Inject(FaultKind::kKill, HostOf(*owner), absl::Seconds(3));
  EXPECT_TRUE(Commits(sequence));
  EndsWell();
}

// Stopped, and with work that stands still. The others go on without it, and
// its worker's watch brings it back.
TEST_F(FaultTableTest, ATrainerThatHangsIsEndedAndItsReplicaTrainsOn) {
  for (const double how : {0.0, 1.0}) {
    ASSERT_TRUE(OpensLate());
    const Member hangs = Open(3)->second.members[how == 0 ? 1 : 2];
    const HostId host = HostOf(hangs);
    Fault fault;
    fault.kind = FaultKind::kTrainerHangs;
    fault.host = host;
    fault.amount = how;
    const Instant since = world_.timeline.now();
    world_.Apply(fault);
    ASSERT_TRUE(Until([&] { return Ended(hangs.life); })) << how;
    EXPECT_LE(world_.timeline.now() - since, world_.schedule.lease) << how;
    ASSERT_TRUE(Until([&] { return watcher_.facts[host].life > hangs.life; }));
  }
  EndsWell();
}

Schedule WithoutValidation() {
  Schedule schedule = Calm({"a", "b", "c"});
  schedule.jobs[0].validation_samples = 0;
  return schedule;
}

class WithoutValidationTest : public FaultTableTest {
 protected:
  WithoutValidationTest() : FaultTableTest(WithoutValidation()) {}
};

TEST_F(WithoutValidationTest, AJobTrainsToItsEndInOneLifeOfEach) {
  EndsWell();
  EXPECT_TRUE(All<coordinator::Evaluated>().empty());
  EXPECT_EQ(All<ReplicaAdmitted>().size(), 3u);
}

TEST_F(FaultTableTest, WhoLosesTheCoordinatorOnlyIsInTheSumAndComesBack) {
  const std::optional<Member> member = LastWithoutAResult();
  ASSERT_TRUE(member.has_value());
  const Sequence sequence = Open(3)->second.sequence;
  CutOff(HostOf(*member), kCoordinator, absl::Seconds(6));
  ASSERT_TRUE(Commits(sequence));
  EXPECT_TRUE(Names(WhatCommitted(sequence), member->life));
  ASSERT_TRUE(Until([&] { return Ended(member->life); }));
  ASSERT_TRUE(Until(
      [&] { return watcher_.facts[HostOf(*member)].life > member->life; }));
  EndsWell();
}

TEST_F(FaultTableTest, AResultWaitsForACoordinatorThatIsAway) {
  ASSERT_TRUE(Until([&] {
    const auto open = Open(3);
    return open.has_value() && open->second.sequence >= Sequence(5) &&
           std::all_of(open->second.members.begin(), open->second.members.end(),
                       [&](const Member& member) {
                         return HasStored(HostOf(member), open->first);
                       });
  }));
  const auto open = Open(3);
  Inject(FaultKind::kKill, kCoordinator, absl::Seconds(5));
  ASSERT_TRUE(Commits(open->second.sequence));
  EXPECT_EQ(CommitOf(open->second.sequence)->attempt, open->first);
  EndsWell();
  EXPECT_EQ(All<ReplicaAdmitted>().size(), 3u);
}

TEST_F(FaultTableTest, ACoordinatorThatDiesAfterASyncSaysSoAfterItsRestart) {
  ASSERT_TRUE(OpensLate());
  const auto open = Open(3);
  // Nobody can have heard yet: every message takes two milliseconds.
  CutOff(kCoordinator, 1, absl::Milliseconds(100));
  CutOff(kCoordinator, 2, absl::Milliseconds(100));
  CutOff(kCoordinator, 3, absl::Milliseconds(100));
  Inject(FaultKind::kKill, kCoordinator, absl::Seconds(1));
  ASSERT_TRUE(Commits(open->second.sequence));
  EndsWell();
}

TEST_F(FaultTableTest, AJournalThatCannotSyncEndsItsProcess) {
  ASSERT_TRUE(OpensLate());
  const uint64_t run = world_.machine(kCoordinator).run;
  Inject(FaultKind::kDiskFails, kCoordinator);
  ASSERT_TRUE(Until([&] { return world_.machine(kCoordinator).run > run; }));
  EndsWell();
}

TEST_F(FaultTableTest, PowerLostBeforeTheNextBaseCostsNothing) {
  HostId host = 1;
  ASSERT_TRUE(Until([&] {
    const protocol::FragmentFacts& facts = Fragment(host);
    return facts.applied >= Sequence(5) && !facts.bases.empty() &&
           facts.bases.back().sequence < facts.applied;
  }));
  const Sequence applied = Fragment(host).applied;
  Inject(FaultKind::kPowerLoss, host, absl::Milliseconds(500));
  ASSERT_TRUE(Until([&] { return !IsActive(host); }));
  ASSERT_TRUE(Until([&] { return IsActive(host); }));
  EXPECT_GE(Fragment(host).applied, applied);
  EndsWell();
}

TEST_F(FaultTableTest, AnEmptyDiskIsFilledFromTheOthers) {
  ASSERT_TRUE(OpensLate());
  Inject(FaultKind::kDiskLoss, 2, absl::Milliseconds(500));
  ASSERT_TRUE(Until([&] { return !IsActive(2); }));
  ASSERT_TRUE(Until([&] { return IsActive(2); }));
  EndsWell();
}

TEST_F(FaultTableTest, DisksThatComeBackInTimeLoseNothing) {
  ASSERT_TRUE(OpensLate());
  for (HostId host = 1; host <= 3; ++host) {
    Inject(FaultKind::kPowerLoss, host, absl::Seconds(5));
  }
  EndsWell();
  EXPECT_TRUE(All<coordinator::Restored>().empty());
}

TEST_F(FaultTableTest, OneReplicaThatIsLeftGoesOnAlone) {
  ASSERT_TRUE(OpensLate());
  Inject(FaultKind::kKill, 1, absl::Seconds(20));
  Inject(FaultKind::kKill, 3, absl::Seconds(20));
  size_t alone = 0;
  ASSERT_TRUE(Until([&] {
    alone = 0;
    for (const auto& [index, commit] : All<Committed>()) {
      alone += WhatCommitted(commit.sequence).members.size() == 1 ? 1 : 0;
    }
    return alone >= 3;
  }));
  EndsWell();
}

class LossyTest : public FaultTableTest {
 protected:
  LossyTest() : FaultTableTest(Lossy()) {}
  static Schedule Lossy() {
    Schedule schedule = Calm({"a", "b", "c"});
    schedule.links = {.lost = 0.05,
                      .repeated = 0.1,
                      .late = 0.1,
                      .late_max = absl::Milliseconds(300),
                      .broken = 0.01};
    return schedule;
  }
};

TEST_F(LossyTest, FramesThatAreLostRepeatedLateOrDamagedChangeNothing) {
  EndsWell();
}

}  // namespace
}  // namespace skerry::sim
