// coordinator/core/placing.h
//
// Decides which workers may have a place in a job, and says why the others may
// not.
#ifndef SKERRY_COORDINATOR_CORE_PLACING_H_
#define SKERRY_COORDINATOR_CORE_PLACING_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "coordinator/core/job_state.h"
#include "coordinator/core/queue.h"

namespace skerry::coordinator {

// The workers of an island train one replica and sum its gradients in shared
// memory, so they have to be on one host. The first of them that says where it
// is decides which. Says in words why the worker has no part in its island;
// empty when it has, or has not named its host.
std::string WhyApart(const WorkerTable& workers, const Worker& worker);

// Whether the job may run on workers of the island.
bool IsAllowedOn(const job::JobSpec& spec, std::string_view island);

// Says in words why the worker may have no place; empty when it may.
// `memory_needed` is the least that the job takes on a worker (job/needs.h).
// What the worker has said of the job does not count.
std::string WhyNoPlace(const job::JobSpec& spec, uint64_t memory_needed,
                       const WorkerTable& workers, const Worker& worker,
                       const Turn& turn, const ClusterOptions& options);

// Says why a waiting job has too few workers: what is in the way, or how many
// it may have and why not the others.
std::string WhyItWaits(const JobState& job, const WorkerTable& workers,
                       const Turn& turn, const ClusterOptions& options);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_PLACING_H_
