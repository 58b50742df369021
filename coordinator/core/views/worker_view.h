// coordinator/core/views/worker_view.h
//
// Builds the views of a worker: what operators see, and whether any job still
// depends on it.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_WORKER_VIEW_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_WORKER_VIEW_H_

#include <vector>

#include "base/instant.h"
#include "coordinator/core/state/job_table.h"
#include "coordinator/core/state/worker_table.h"
#include "coordinator/core/views/views.h"

namespace skerry::coordinator {

// Returns true if an unfinished job would miss the worker if it went now,
// because it is part of a life or nobody else holds what it holds.
bool IsNeeded(const JobTable& jobs, const WorkerTable& workers,
              const Worker& worker);

// Returns the worker's links by peer. Each is as the newest job that has
// measured it says.
std::vector<LinkView> LinksOf(const JobTable& jobs, const WorkerTable& workers,
                              const Worker& worker);

WorkerView ViewOfWorker(const JobTable& jobs, const WorkerTable& workers,
                        const Worker& worker, const ClusterOptions& options,
                        Instant now);
// By name.
std::vector<WorkerView> ViewAllWorkers(const JobTable& jobs,
                                       const WorkerTable& workers,
                                       const ClusterOptions& options,
                                       Instant now);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_WORKER_VIEW_H_
