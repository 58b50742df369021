// coordinator/core/rules/job_workers.h
//
// Names the workers of a job to each other. A worker serves the job's state to
// those and to no others.
#ifndef SKERRY_COORDINATOR_CORE_RULES_JOB_WORKERS_H_
#define SKERRY_COORDINATOR_CORE_RULES_JOB_WORKERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// Returns the names of the registered workers, in order, that have a life or a
// place in the job, or have said something of it since they were told of it.
// Joiners and workers that drain are among them. Empty when they are more than
// `job_workers_named_max`.
std::vector<std::string> NamedWorkersOf(const JobState& job,
                                        const WorkerTable& workers,
                                        const ClusterOptions& options);

// Whether orders name the worker although it has said nothing of the job.
bool IsNamedUnheard(const JobState& job, std::string_view worker);

// Has every worker of the job hear at once who the job's workers are now.
// Without effect where there are too many to name.
void TellWorkers(JobState& job, const ClusterOptions& options);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_JOB_WORKERS_H_
