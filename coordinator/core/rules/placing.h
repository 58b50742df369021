// coordinator/core/rules/placing.h
//
// Decides which workers may have a place in a job, and says why the others may
// not.
#ifndef SKERRY_COORDINATOR_CORE_RULES_PLACING_H_
#define SKERRY_COORDINATOR_CORE_RULES_PLACING_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "coordinator/core/state/job_state.h"
#include "coordinator/core/state/queue.h"

namespace skerry::coordinator {

// The workers of an island train one replica and sum its gradients. Those that
// meet others in shared memory only name their hosts, and have to be on one.
// The first of them decides which. Says in words why the worker has no part in
// its island; empty when it has, or has not named its host.
std::string WhyApart(const WorkerTable& workers, const Worker& worker);

// Whether the job may run on workers of the island.
bool IsAllowedOn(const job::JobSpec& spec, std::string_view island);

// Some trainers cannot compute with others. Whether a worker of the island has
// said so of its trainer for this job.
bool TrainsAlone(const JobState& job, const WorkerTable& workers,
                 std::string_view island);

// Says in words why the worker trains nothing where another worker of its
// island trains alone; empty where it may train.
std::string WhyBesideOne(const JobState& job, const WorkerTable& workers,
                         const Worker& worker);

// What a job takes on each worker.
struct Needed {
  // The least bytes of main memory (job/needs.h).
  uint64_t memory_bytes = 0;
  // SHA-256 of the program of the job's first worker (programs.h).
  std::string program_sha256 = {};
  // Its lives; null for a job that is only planned.
  const ReplicaTable* replicas = nullptr;
};
Needed NeededBy(const JobState& job);

// Says in words why the worker cannot take part in the job because it and
// another one cannot reach each other; empty when nothing is in the way. Every
// worker of a job sends to every other island's. Who has a life in the job
// comes first, then who was admitted first.
std::string WhyOutOfReach(const job::JobSpec& spec, const Needed& needed,
                          const WorkerTable& workers, const Worker& worker);

// Says in words why the worker may have no place; empty when it may. What the
// worker has said of the job does not count.
std::string WhyNoPlace(const job::JobSpec& spec, const Needed& needed,
                       const WorkerTable& workers, const Worker& worker,
                       const Turn& turn, const ClusterOptions& options);

// Says in words what keeps the worker from a job that it was set up for, so
// that its operator has to act: it has another program of that name, it cannot
// reach another worker, or it is beside one that trains alone. Empty when
// nothing does.
std::string WhyLeftOut(const JobState& job, const WorkerTable& workers,
                       const Worker& worker);

// Says why a waiting job has too few workers: what is in the way, or how many
// it may have and why not the others.
std::string WhyItWaits(const JobState& job, const WorkerTable& workers,
                       const Turn& turn, const ClusterOptions& options);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_PLACING_H_
