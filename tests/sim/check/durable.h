// tests/sim/check/durable.h
//
// Checks that nothing is said before it is durable, and that durable state
// comes back (PROTOCOL 2; DESIGN 5: 5). Orders rest on synced records. A replay
// gives the state that wrote the journal. A reported result or base is a whole
// file on the disk.
#ifndef SKERRY_TESTS_SIM_CHECK_DURABLE_H_
#define SKERRY_TESTS_SIM_CHECK_DURABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class DurableChecker final : public Observer {
 public:
  // `out` outlives the checker.
  explicit DurableChecker(Violations& out) : out_(out) {}

  void OnDurable(const coordinator::Entry& entry) override {
    durable_ = entry.index.value();
  }
  void OnJournalReplaced(Revision last) override {
    durable_ = last.value();
    states_.erase(states_.upper_bound(last), states_.end());
  }
  void OnState(Revision revision, uint64_t hash) override;
  void OnOrdersSaid(HostId to, const protocol::Orders& orders) override;
  void OnFactsSaid(const JobSight& sight, const WorkerDisk& disk,
                   const std::string& folder) override;
  void OnBroken(const std::string& what) override { out_.Add(what); }

 private:
  // The newest of one fragment of a job that a run of a worker has said.
  struct Said {
    Attempt stored;
    Sequence base;
  };

  void CheckFragment(const JobSight& sight, uint32_t index,
                     const WorkerDisk& disk, const std::string& folder);
  void CheckStored(const JobSight& sight, uint32_t index,
                   const WorkerDisk& disk, const std::string& folder);
  void CheckBase(const JobSight& sight, uint32_t index,
                 const protocol::HeldBase& base, const WorkerDisk& disk,
                 const std::string& folder);

  Violations& out_;
  uint64_t durable_ = 0;
  std::map<Revision, uint64_t> states_;
  // By host, its run, job, fragment, and how often the folder was made anew.
  std::map<std::tuple<HostId, uint64_t, JobId, uint32_t, uint32_t>, Said> said_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_DURABLE_H_
