// tests/sim/fault_table.h
//
// A fixture for the tests of PROTOCOL 9. It runs a whole cluster of a few calm
// islands, injects faults at the moments that the table names, and reads the
// coordinator's journal.
#ifndef SKERRY_TESTS_SIM_FAULT_TABLE_H_
#define SKERRY_TESTS_SIM_FAULT_TABLE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/state/options.h"
#include "gtest/gtest.h"
#include "simulator/observer.h"
#include "tests/sim/check/checker_set.h"
#include "tests/sim/faulty_world.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {

inline constexpr HostId kCoordinator = 0;
inline constexpr uint64_t kFaultTableSamples = 2400;

// Returns a schedule with one job, one worker for each name and one replica for
// each different name.
Schedule Calm(const std::vector<std::string>& islands);

// Returns a coordinator's core that has followed the whole journal. A record
// that does not follow from those before it fails the test.
std::unique_ptr<coordinator::Cluster> Replayed(
    const std::vector<coordinator::Entry>& journal);

// Returns the coordinator's journal of a run until calm, or until all jobs have
// ended. What a checker finds fails the test.
std::vector<coordinator::Entry> JournalOf(const Schedule& schedule);
// The same for a job of 500 samples on two islands, without faults.
std::vector<coordinator::Entry> QuietJournal();

// Sees everything that the checkers see, and remembers the journal.
class Watcher final : public Observer {
 public:
  // At most `seats_max` jobs share an island.
  explicit Watcher(size_t seats_max = coordinator::ClusterOptions().seats_max)
      : checkers_(violations, seats_max) {}

  void OnDurable(const coordinator::Entry& entry) override;
  void OnState(Revision revision, uint64_t hash) override;
  void OnOrdersSaid(HostId to, const protocol::Orders& orders) override;
  void OnFactsSaid(const JobSight& sight, const WorkerDisk& disk,
                   const std::string& folder) override;
  void OnStatusTaken(HostId from, uint64_t run,
                     const protocol::StatusFacts& status) override;
  void OnOrdersHeard(HostId host, uint64_t run,
                     const protocol::JobOrders& orders) override;
  void OnFrameTaken(HostId host, uint64_t run,
                    const compression::FrameHeader& header) override;
  void OnSeat(const SeatSight& sight) override;
  void OnBroken(const std::string& what) override;

  Violations violations;
  std::vector<coordinator::Entry> records;
  std::map<HostId, protocol::JobFacts> facts;

 private:
  CheckerSet checkers_;
};

class FaultTableTest : public testing::Test {
 protected:
  explicit FaultTableTest(const Schedule& schedule = Calm({"a", "b", "c"}));

  // Runs until `good` holds. Returns false if all jobs end before.
  bool Until(const std::function<bool()>& good);
  void Inject(FaultKind kind, HostId host, absl::Duration lasts = {},
              HostId other = 0);
  // Neither of the two hears the other.
  void CutOff(HostId one, HostId other, absl::Duration lasts);
  // Runs to the job's end: every sample is taken in, and no checker complains.
  void EndsWell();

  // --- What the journal says.
  template <typename T>
  std::vector<std::pair<Revision, T>> All() const {
    std::vector<std::pair<Revision, T>> found;
    for (const coordinator::Entry& entry : watcher_.records) {
      if (const T* record = std::get_if<T>(&entry.record)) {
        found.emplace_back(entry.index, *record);
      }
    }
    return found;
  }
  std::optional<coordinator::Committed> CommitOf(Sequence sequence) const;
  // The attempt that is open, if it has as many members.
  std::optional<std::pair<Attempt, coordinator::Opened>> Open(
      size_t members) const;
  // Runs until an attempt of the fifth sequence or a later one is open. Returns
  // false if there is none.
  bool OpensLate(size_t members = 3);
  coordinator::Opened WhatCommitted(Sequence sequence) const;
  static bool Names(const coordinator::Opened& opened, Life life);
  bool Ended(Life life) const;
  bool Commits(Sequence sequence);

  // --- What workers say.
  HostId HostOf(const protocol::Member& member) const;
  // Returns what `host` says of the only fragment that the job has.
  const protocol::FragmentFacts& Fragment(HostId host);
  bool HasStored(HostId host, Attempt attempt);
  // Runs until two of the three members of an attempt have stored its result,
  // for which they needed all frames of the third. Returns the third, or
  // nothing if that never happens.
  std::optional<protocol::Member> LastWithoutAResult();
  bool IsActive(HostId host);

  Watcher watcher_;
  FaultyWorld world_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_FAULT_TABLE_H_
