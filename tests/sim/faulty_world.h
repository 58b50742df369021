// tests/sim/faulty_world.h
//
// A world as a schedule draws it: its links, its jobs, and what faults and
// operators do to them. The same schedule gives the same history, byte for
// byte.
#ifndef SKERRY_TESTS_SIM_FAULTY_WORLD_H_
#define SKERRY_TESTS_SIM_FAULTY_WORLD_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/instant.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/views/views.h"
#include "simulator/observer.h"
#include "simulator/world.h"
#include "tests/sim/moments.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {

class FaultyWorld final : public World {
 public:
  // `observer` outlives the world.
  FaultyWorld(const Schedule& schedule, Observer& observer,
              size_t history_lines);
  ~FaultyWorld() override;

  // Brings a fault about now, whenever it is said to be.
  void Apply(const Fault& fault);

  const Schedule schedule;

 private:
  void OnRecord(const coordinator::Entry& entry) override;
  void OnJournalReplaced(
      Revision last,
      const std::vector<coordinator::Entry>& milestones) override;
  // What operators have submitted, held and marked.
  void NoteOperators(const coordinator::Entry& entry);
  void OnAwake();
  void CheckAwake(const coordinator::Entry& entry);
  // `tries` were made before.
  void Decide(int tries);
  // Whether an operator has to decide how the job goes on.
  bool StandsForLong(const coordinator::JobView& job);

  void DrawLinks();
  void ApplyToNetwork(const Fault& fault);
  void ApplyToMachine(const Fault& fault);
  void ApplyByOperator(const Fault& fault);
  void ApplyByMistake(const Fault& fault);
  // Nobody goes by a taken name on `spare` any more.
  void Retire(HostId spare);
  void DrainUntilReleased(HostId spare);
  // Brings strikes about whose moment the record is.
  void StrikeAt(const coordinator::Entry& entry);
  // When the fault's time is over, or when it has to be calm.
  Instant EndOf(absl::Duration lasts) const;
  void When(absl::Duration lasts, Timeline::Task task);
  void CutBoth(HostId host, int change);
  void Cut(HostId from, HostId to, int change);
  void Flap(HostId host, absl::Duration period, Instant until, bool cut);
  void Rot(HostId host);
  void AskPaused(const std::string& job, bool paused);
  // Unless it has not ended.
  void AskDeleted(const std::string& job);
  void AskIntent(const std::string& worker, coordinator::WorkerIntent intent);
  // Operators take back what they have held.
  void Release();
  void Calm();

  // As the journal has it.
  std::map<JobId, std::string> job_names_;
  std::set<JobId> paused_;
  std::set<std::string> marked_;
  Moments moments_;
  // At how many looks in a row a job had no state.
  std::map<JobId, int> looks_at_lost_;
  // That wait for their moment.
  std::vector<Fault> strikes_;
  std::optional<Instant> sleeps_since_;  // the coordinator
  // When the coordinator last woke from a long sleep.
  std::optional<Instant> woke_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_FAULTY_WORLD_H_
