// tests/sim/check/folders.h
//
// Checks that a worker removes a job's files only when the journal has deleted
// that very job. So it never removes files that a running job needs.
#ifndef SKERRY_TESTS_SIM_CHECK_FOLDERS_H_
#define SKERRY_TESTS_SIM_CHECK_FOLDERS_H_

#include <cstdint>
#include <map>
#include <set>

#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class FolderChecker final : public Observer {
 public:
  // `out` outlives the checker.
  explicit FolderChecker(Violations& out) : out_(out) {}

  void OnDurable(const coordinator::Entry& entry) override;
  void OnFolderRemoved(HostId host, JobId job, uint64_t uid) override;

 private:
  Violations& out_;
  std::map<JobId, uint64_t> uids_;
  std::set<JobId> deleted_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_FOLDERS_H_
