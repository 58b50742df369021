#include "coordinator/core/rules/relayed_pairs.h"

#include <string>
#include <vector>

#include "coordinator/core/rules/job_workers.h"
#include "coordinator/core/rules/relays.h"

namespace skerry::coordinator {
namespace {

// The workers of the job that cannot be dialled.
std::vector<const Worker*> HiddenOf(const JobState& job,
                                    const std::vector<const Worker*>& hidden) {
  std::vector<const Worker*> found;
  for (const Worker* worker : hidden) {
    const std::string& name = worker->self.worker;
    if (job.SeatOf(name, worker->incarnation) != nullptr ||
        IsNamedUnheard(job, name)) {
      found.push_back(worker);
    }
  }
  return found;
}

std::vector<const Worker*> AllHidden(const WorkerTable& workers) {
  std::vector<const Worker*> hidden;
  for (const std::string& name : workers.hidden()) {
    hidden.push_back(workers.FindCurrent(name));
  }
  return hidden;
}

}  // namespace

protocol::RelayedPairs PairsOfRelay(const JobTable& jobs,
                                    const WorkerTable& workers,
                                    const Worker& relay) {
  protocol::RelayedPairs pairs;
  if (!workers.relays().contains(relay.self.worker)) return pairs;
  const std::vector<const Worker*> hidden = AllHidden(workers);
  for (const auto& [id, job] : jobs.all()) {
    const std::vector<const Worker*> members = HiddenOf(job, hidden);
    for (const Worker* a : members) {
      for (const Worker* b : members) {
        if (a->self.worker >= b->self.worker || a->island == b->island) {
          continue;
        }
        const Worker* const found = RelayFor(workers, *a, *b);
        if (found != nullptr && found->self.worker == relay.self.worker) {
          pairs.emplace(a->self.worker, b->self.worker);
        }
      }
    }
  }
  return pairs;
}

absl::btree_map<std::string, std::string> RelaysOf(const JobTable& jobs,
                                                   const WorkerTable& workers,
                                                   const Worker& worker) {
  absl::btree_map<std::string, std::string> relays;
  if (worker.left || !worker.IsHidden()) return relays;
  const std::vector<const Worker*> hidden = AllHidden(workers);
  for (const auto& [id, job] : jobs.all()) {
    if (job.Ended() || HiddenOf(job, {&worker}).empty()) continue;
    for (const Worker* peer : HiddenOf(job, hidden)) {
      if (peer->island == worker.island) continue;
      if (const Worker* relay = RelayFor(workers, worker, *peer)) {
        relays[peer->self.worker] = relay->self.worker;
      }
    }
  }
  return relays;
}

}  // namespace skerry::coordinator
