// coordinator/core/views/stored_jobs.h
//
// Builds what a worker hears of the jobs' folders on its disk, and what an
// operator sees of them. The coordinator names a job to a worker only if its
// own history has the job under the folder's uid. It cannot tell whether
// somebody needs any other job.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_STORED_JOBS_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_STORED_JOBS_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/state/job_table.h"
#include "coordinator/core/state/worker_table.h"
#include "coordinator/core/views/views.h"
#include "protocol/orders.h"
#include "protocol/stored_jobs.h"

namespace skerry::coordinator {

using protocol::Orders;

void AddStoredJobs(const JobTable& jobs, const Worker& worker, Orders& orders);

// Has the worker remove these folders. Errors: NotFound, no worker of that
// name, or it has no such folder; FailedPrecondition, the worker is not there,
// or a job has not ended. Then none is removed.
absl::Status RemoveStoredJobs(const JobTable& jobs, WorkerTable& workers,
                              std::string_view worker,
                              protocol::StoredKeys keys);

std::vector<StoredJobView> StoredJobsOf(const JobTable& jobs,
                                        const Worker& worker);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_STORED_JOBS_H_
