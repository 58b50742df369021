// A fault of PROTOCOL 9 a test: a whole cluster, the fault at the moment that
// the table names, and what the coordinator's journal says afterwards. All
// checkers watch, and the job has to end with every sample taken in.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_join.h"
#include "coordinator/core/records.h"
#include "data/sample_ranges.h"
#include "gtest/gtest.h"
#include "tests/sim/check/checker_set.h"
#include "tests/sim/world.h"

namespace skerry::sim {
namespace {

using coordinator::Committed;
using coordinator::Entry;
using coordinator::Member;
using coordinator::Opened;
using coordinator::ReplicaAdmitted;
using coordinator::ReplicaEnded;

constexpr HostId kCoordinator = 0;
constexpr uint64_t kSamples = 2400;
constexpr uint64_t kEventsMax = 2'000'000;

Schedule Calm(const std::vector<std::string>& islands) {
  Schedule schedule;
  schedule.seed = 20261122;
  schedule.profile = "all";
  for (const std::string& island : islands) {
    schedule.workers.push_back({island, absl::Milliseconds(10)});
  }
  JobShape job;
  job.samples = kSamples;
  job.method = "co2";
  schedule.jobs.push_back(job);
  schedule.delay_min = absl::Milliseconds(2);
  schedule.delay_max = absl::Milliseconds(30);
  schedule.calm_at = absl::Hours(1);
  return schedule;
}

// Sees everything that the checkers see, and remembers the journal.
class Watcher final : public Observer {
 public:
  void OnDurable(const Entry& entry) override {
    checkers_.OnDurable(entry);
    records.push_back(entry);
  }
  void OnState(Revision revision, uint64_t hash) override {
    checkers_.OnState(revision, hash);
  }
  void OnOrdersSaid(HostId to, const coordinator::Orders& orders) override {
    checkers_.OnOrdersSaid(to, orders);
  }
  void OnFactsSaid(const SeatSight& sight, const WorkerDisk& disk,
                   const std::string& folder) override {
    checkers_.OnFactsSaid(sight, disk, folder);
  }
  void OnSeat(const SeatSight& sight) override {
    checkers_.OnSeat(sight);
    facts[sight.host] = sight.facts;
  }
  void OnBroken(const std::string& what) override { checkers_.OnBroken(what); }

  Violations violations;
  std::vector<Entry> records;
  std::map<HostId, worker::JobFacts> facts;

 private:
  CheckerSet checkers_{violations};
};

class FaultTableTest : public testing::Test {
 protected:
  explicit FaultTableTest(const Schedule& schedule = Calm({"a", "b", "c"}))
      : world_(schedule, watcher_, 0) {}

  bool Until(const std::function<bool()>& good) {
    while (!good()) {
      if (world_.AllJobsEnded() || world_.timeline.count() > kEventsMax) {
        return false;
      }
      world_.timeline.RunNext();
    }
    return true;
  }
  void Inject(FaultKind kind, HostId host, absl::Duration lasts = {},
              HostId other = 0) {
    Fault fault;
    fault.kind = kind;
    fault.host = host;
    fault.other = other;
    fault.lasts = lasts;
    world_.Apply(fault);
  }
  // Neither of the two hears the other.
  void CutOff(HostId one, HostId other, absl::Duration lasts) {
    Inject(FaultKind::kCut, one, lasts, other);
    Inject(FaultKind::kCut, other, lasts, one);
  }
  void EndsWell() {
    Until([] { return false; });
    EXPECT_TRUE(world_.AllJobsEnded()) << world_.WorkersText();
    data::RangeSet taken;
    for (const auto& [index, commit] : All<Committed>()) {
      for (const Member& member : WhatCommitted(commit.sequence).members) {
        taken = taken.Union(data::RangeSet(member.contribution.ranges));
      }
    }
    EXPECT_EQ(taken.total(), kSamples);
    EXPECT_EQ(absl::StrJoin(watcher_.violations.first(), "\n"), "");
  }

  // --- What the journal says.
  template <typename T>
  std::vector<std::pair<Revision, T>> All() const {
    std::vector<std::pair<Revision, T>> found;
    for (const Entry& entry : watcher_.records) {
      if (const T* record = std::get_if<T>(&entry.record)) {
        found.emplace_back(entry.index, *record);
      }
    }
    return found;
  }
  std::optional<Committed> CommitOf(Sequence sequence) const {
    for (const auto& [index, commit] : All<Committed>()) {
      if (commit.sequence == sequence) return commit;
    }
    return std::nullopt;
  }
  // The attempt that is open, if it has as many members.
  std::optional<std::pair<Attempt, Opened>> Open(size_t members) const {
    const auto opened = All<Opened>();
    if (opened.empty() || opened.back().second.members.size() != members ||
        CommitOf(opened.back().second.sequence).has_value()) {
      return std::nullopt;
    }
    return std::pair(Attempt(opened.back().first.value()),
                     opened.back().second);
  }
  // One of the fifth sequence or a later one.
  bool OpensLate(size_t members = 3) {
    return Until([&] {
      const auto open = Open(members);
      return open.has_value() && open->second.sequence >= Sequence(5);
    });
  }
  Opened WhatCommitted(Sequence sequence) const {
    const Attempt attempt = CommitOf(sequence)->attempt;
    for (const auto& [index, opened] : All<Opened>()) {
      if (Attempt(index.value()) == attempt) return opened;
    }
    return {};
  }
  static bool Names(const Opened& opened, Life life) {
    return std::any_of(opened.members.begin(), opened.members.end(),
                       [&](const Member& m) { return m.life == life; });
  }
  bool Ended(Life life) const {
    for (const auto& [index, ended] : All<ReplicaEnded>()) {
      if (ended.life == life) return true;
    }
    return false;
  }
  HostId HostOf(const Member& member) const {
    return world_.HostOf(member.holders.front().peer.address);
  }
  // The only one that the job has.
  const worker::FragmentFacts& Fragment(HostId host) {
    std::vector<worker::FragmentFacts>& all = watcher_.facts[host].fragments;
    if (all.empty()) all.resize(1);
    return all[0];
  }
  bool HasStored(HostId host, Attempt attempt) {
    const auto& stored = Fragment(host).stored;
    return stored.has_value() && stored->attempt == attempt;
  }
  // Of three, when the others have all of its frames, and have stored what they
  // came to; nothing when that never happens.
  std::optional<Member> LastWithoutAResult() {
    std::optional<Member> last;
    const bool found = Until([&] {
      const auto open = Open(3);
      if (!open.has_value() || open->second.sequence < Sequence(5)) {
        return false;
      }
      size_t stored = 0;
      for (const Member& member : open->second.members) {
        const bool has = HasStored(HostOf(member), open->first);
        stored += has ? 1 : 0;
        if (!has) last = member;
      }
      return stored == 2;
    });
    return found ? last : std::nullopt;
  }
  bool Commits(Sequence sequence) {
    return Until([&] { return CommitOf(sequence).has_value(); });
  }
  bool IsActive(HostId host) {
    return watcher_.facts[host].state == worker::SeatState::kActive;
  }

  Watcher watcher_;
  World world_;
};

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
    const worker::FragmentFacts& facts = Fragment(host);
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
