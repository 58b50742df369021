// tests/sim/check/turns.h
//
// Checks in the journal alone that operators are obeyed and that jobs take
// turns. A job that is held gets no samples. A worker that is not to serve
// joins no life. No more jobs than a worker takes share an island, and no job
// begins there before one whose turn it is.
#ifndef SKERRY_TESTS_SIM_CHECK_TURNS_H_
#define SKERRY_TESTS_SIM_CHECK_TURNS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/log/records.h"
#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

// Requires: every job may use every island, and asks for one worker.
class TurnChecker final : public Observer {
 public:
  // At most `seats_max` jobs share an island. `out` outlives the checker.
  TurnChecker(Violations& out, size_t seats_max)
      : out_(out), seats_max_(seats_max) {}

  void OnDurable(const coordinator::Entry& entry) override;
  void OnJournalReplaced(Revision last) override;

 private:
  struct Job {
    int32_t priority = 0;
    bool paused = false;
    bool ended = false;
    // The islands where it has had a life.
    std::set<std::string> begun_on;
  };

  void Take(const coordinator::Entry& entry);
  void CheckAdmitted(const coordinator::ReplicaAdmitted& record);

  Violations& out_;
  const size_t seats_max_;
  // The whole journal, to read its beginning again if an earlier journal takes
  // its place.
  std::vector<coordinator::Entry> entries_;
  std::map<JobId, Job> jobs_;
  std::map<std::string, coordinator::WorkerIntent> intents_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_TURNS_H_
