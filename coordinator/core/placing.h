// coordinator/core/placing.h
//
// Decides which workers may have a place in a job, and says why the others may
// not.
#ifndef SKERRY_COORDINATOR_CORE_PLACING_H_
#define SKERRY_COORDINATOR_CORE_PLACING_H_

#include <cstdint>
#include <string>

#include "coordinator/core/job_state.h"
#include "coordinator/core/queue.h"

namespace skerry::coordinator {

// Says in words why the worker may have no place; empty when it may.
// `memory_needed` is the least that the job takes on a worker (job/needs.h).
// What the worker has said of the job does not count.
std::string WhyNoPlace(const job::JobSpec& spec, uint64_t memory_needed,
                       const Worker& worker, const Turn& turn,
                       const ClusterOptions& options);

// Says why a waiting job has too few workers: what is in the way, or how many
// it may have and why not the others.
std::string WhyItWaits(const JobState& job, const WorkerTable& workers,
                       const Turn& turn, const ClusterOptions& options);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_PLACING_H_
