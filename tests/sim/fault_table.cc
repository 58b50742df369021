#include "tests/sim/fault_table.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_join.h"
#include "data/sample_ranges.h"
#include "gmock/gmock.h"
#include "simulator/worker_node.h"

namespace skerry::sim {
namespace {

using coordinator::Committed;
using coordinator::Entry;
using coordinator::Opened;
using coordinator::ReplicaEnded;
using protocol::Member;

constexpr uint64_t kEventsMax = 2'000'000;

}  // namespace

Schedule Calm(const std::vector<std::string>& islands) {
  Schedule schedule;
  schedule.seed = 20261122;
  schedule.profile = "all";
  for (const std::string& island : islands) {
    schedule.workers.push_back({island, absl::Milliseconds(10)});
  }
  JobShape job;
  job.samples = kFaultTableSamples;
  job.method = "co2";
  schedule.jobs.push_back(job);
  schedule.delay_min = absl::Milliseconds(2);
  schedule.delay_max = absl::Milliseconds(30);
  schedule.calm_at = absl::Hours(1);
  return schedule;
}

std::unique_ptr<coordinator::Cluster> Replayed(
    const std::vector<Entry>& journal) {
  auto cluster =
      std::make_unique<coordinator::Cluster>(coordinator::ClusterOptions());
  for (const Entry& entry : journal) {
    const absl::Status applied = cluster->Apply(entry);
    EXPECT_TRUE(applied.ok()) << applied;
  }
  return cluster;
}

std::vector<Entry> JournalOf(const Schedule& schedule) {
  Watcher watcher(schedule.seats_max);
  FaultyWorld world(schedule, watcher, 0);
  world.RunUntil(Instant(schedule.calm_at));
  EXPECT_THAT(watcher.violations.first(), testing::IsEmpty());
  return watcher.records;
}

std::vector<Entry> QuietJournal() {
  Schedule schedule = Calm({"a", "b"});
  schedule.jobs[0].samples = 500;
  return JournalOf(schedule);
}

void Watcher::OnDurable(const Entry& entry) {
  checkers_.OnDurable(entry);
  records.push_back(entry);
}

void Watcher::OnState(Revision revision, uint64_t hash) {
  checkers_.OnState(revision, hash);
}

void Watcher::OnOrdersSaid(HostId to, const protocol::Orders& orders) {
  checkers_.OnOrdersSaid(to, orders);
}

void Watcher::OnFactsSaid(const JobSight& sight, const WorkerDisk& disk,
                          const std::string& folder) {
  checkers_.OnFactsSaid(sight, disk, folder);
}

void Watcher::OnStatusTaken(HostId from, uint64_t run,
                            const protocol::StatusFacts& status) {
  checkers_.OnStatusTaken(from, run, status);
}

void Watcher::OnOrdersHeard(HostId host, uint64_t run,
                            const protocol::JobOrders& orders) {
  checkers_.OnOrdersHeard(host, run, orders);
}

void Watcher::OnFrameTaken(HostId host, uint64_t run,
                           const compression::FrameHeader& header) {
  checkers_.OnFrameTaken(host, run, header);
}

void Watcher::OnSeat(const SeatSight& sight) {
  checkers_.OnSeat(sight);
  facts[sight.host] = sight.facts;
}

void Watcher::OnBroken(const std::string& what) { checkers_.OnBroken(what); }

FaultTableTest::FaultTableTest(const Schedule& schedule)
    : world_(schedule, watcher_, 0) {}

bool FaultTableTest::Until(const std::function<bool()>& good) {
  while (!good()) {
    if (world_.AllJobsEnded() || world_.timeline.count() > kEventsMax) {
      return false;
    }
    world_.timeline.RunNext();
  }
  return true;
}

void FaultTableTest::Inject(FaultKind kind, HostId host, absl::Duration lasts,
                            HostId other) {
  Fault fault;
  fault.kind = kind;
  fault.host = host;
  fault.other = other;
  fault.lasts = lasts;
  world_.Apply(fault);
}

void FaultTableTest::CutOff(HostId one, HostId other, absl::Duration lasts) {
  Inject(FaultKind::kCut, one, lasts, other);
  Inject(FaultKind::kCut, other, lasts, one);
}

void FaultTableTest::EndsWell() {
  Until([] { return false; });
  EXPECT_TRUE(world_.AllJobsEnded()) << world_.WorkersText();
  data::RangeSet taken;
  for (const auto& [index, commit] : All<Committed>()) {
    for (const Member& member : WhatCommitted(commit.sequence).members) {
      taken = taken.Union(member.contribution.ranges);
    }
  }
  EXPECT_EQ(taken.total(), kFaultTableSamples);
  EXPECT_EQ(absl::StrJoin(watcher_.violations.first(), "\n"), "");
}

std::optional<Committed> FaultTableTest::CommitOf(Sequence sequence) const {
  for (const auto& [index, commit] : All<Committed>()) {
    if (commit.sequence == sequence) return commit;
  }
  return std::nullopt;
}

std::optional<std::pair<Attempt, Opened>> FaultTableTest::Open(
    size_t members) const {
  const auto opened = All<Opened>();
  if (opened.empty() || opened.back().second.members.size() != members ||
      CommitOf(opened.back().second.sequence).has_value()) {
    return std::nullopt;
  }
  return std::pair(Attempt(opened.back().first.value()), opened.back().second);
}

bool FaultTableTest::OpensLate(size_t members) {
  return Until([&] {
    const auto open = Open(members);
    return open.has_value() && open->second.sequence >= Sequence(5);
  });
}

Opened FaultTableTest::WhatCommitted(Sequence sequence) const {
  const Attempt attempt = CommitOf(sequence)->attempt;
  for (const auto& [index, opened] : All<Opened>()) {
    if (Attempt(index.value()) == attempt) return opened;
  }
  return {};
}

bool FaultTableTest::Names(const Opened& opened, Life life) {
  return std::any_of(opened.members.begin(), opened.members.end(),
                     [&](const Member& m) { return m.life == life; });
}

bool FaultTableTest::Ended(Life life) const {
  for (const auto& [index, ended] : All<ReplicaEnded>()) {
    if (ended.life == life) return true;
  }
  return false;
}

HostId FaultTableTest::HostOf(const Member& member) const {
  return EndpointOf(member.holders.front().peer.address).host;
}

const protocol::FragmentFacts& FaultTableTest::Fragment(HostId host) {
  std::vector<protocol::FragmentFacts>& all = watcher_.facts[host].fragments;
  if (all.empty()) all.resize(1);
  return all[0];
}

bool FaultTableTest::HasStored(HostId host, Attempt attempt) {
  const auto& stored = Fragment(host).stored;
  return stored.has_value() && stored->attempt == attempt;
}

std::optional<Member> FaultTableTest::LastWithoutAResult() {
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

bool FaultTableTest::Commits(Sequence sequence) {
  return Until([&] { return CommitOf(sequence).has_value(); });
}

bool FaultTableTest::IsActive(HostId host) {
  return watcher_.facts[host].state == protocol::SeatState::kActive;
}

}  // namespace skerry::sim
