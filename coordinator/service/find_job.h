// coordinator/service/find_job.h
//
// Finds the job that an operator names by id or by name.
#ifndef SKERRY_COORDINATOR_SERVICE_FIND_JOB_H_
#define SKERRY_COORDINATOR_SERVICE_FIND_JOB_H_

#include "absl/status/statusor.h"
#include "coordinator/core/cluster.h"

namespace skerry::coordinator {

// For every request that has `name` and `id`. An id that is set wins; it is not
// looked up. Errors: InvalidArgument when there is neither; NotFound.
template <typename Request>
absl::StatusOr<JobId> FindJob(const Cluster& cluster, const Request& request) {
  if (request.id() != 0) return JobId(request.id());
  if (request.name().empty()) {
    return absl::InvalidArgumentError("name, id: one of them is needed");
  }
  return cluster.FindJob(request.name());
}

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_FIND_JOB_H_
