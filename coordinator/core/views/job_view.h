// coordinator/core/views/job_view.h
//
// Builds the view of a job that operators see.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_JOB_VIEW_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_JOB_VIEW_H_

#include "coordinator/core/state/job_state.h"
#include "coordinator/core/state/job_table.h"
#include "coordinator/core/views/views.h"

namespace skerry::coordinator {

// `turn`: what the queue says of the job.
JobView ViewOf(const JobState& job, const WorkerTable& workers,
               const ClusterOptions& options, const Turn& turn,
               Revision revision, Instant now);
// By number.
std::vector<JobView> ViewAllJobs(const JobTable& jobs,
                                 const WorkerTable& workers,
                                 const ClusterOptions& options,
                                 Revision revision, Instant now);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_JOB_VIEW_H_
