#include "coordinator/core/worker_view.h"

#include "coordinator/core/membership.h"

namespace skerry::coordinator {
namespace {

const char* StateOf(const JobTable& jobs, const WorkerTable& workers,
                    const Worker& worker) {
  if (worker.left) return "lost";
  if (worker.suspected) return "suspected";
  if (worker.intent == WorkerIntent::kDrain &&
      !IsNeeded(jobs, workers, worker)) {
    return "drained";
  }
  if (worker.Leaves()) return "draining";
  return worker.intent == WorkerIntent::kCordon ? "cordoned" : "connected";
}

}  // namespace

bool IsNeeded(const JobTable& jobs, const WorkerTable& workers,
              const Worker& worker) {
  const std::string& name = worker.self.worker;
  for (const auto& [id, job] : jobs.all()) {
    if (job.Ended()) continue;
    if (CurrentReplicaOf(job, name, worker.incarnation) != nullptr) return true;
    const bool known = job.SeatOf(name, worker.incarnation) != nullptr ||
                       PlaceOf(job, worker.island, name) != nullptr;
    if (known && !IsCoveredWithout(job, workers, name)) return true;
  }
  return false;
}

WorkerView ViewOfWorker(const JobTable& jobs, const WorkerTable& workers,
                        const Worker& worker, Instant now) {
  const std::string& name = worker.self.worker;
  WorkerView view{name,
                  worker.island,
                  worker.self.address,
                  worker.incarnation,
                  StateOf(jobs, workers, worker),
                  now - worker.last_heard,
                  {},
                  worker.release,
                  worker.intent};
  for (const auto& [id, job] : jobs.all()) {
    if (job.Ended() || worker.left) continue;
    if (CurrentReplicaOf(job, name, worker.incarnation) != nullptr ||
        PlaceOf(job, worker.island, name) != nullptr) {
      view.jobs.push_back(job.spec.name);
    }
  }
  return view;
}

}  // namespace skerry::coordinator
