// coordinator/convert/job_spec.h
//
// job.proto <-> the core's description of a job. Form only: what the numbers
// mean together is judged by coordinator/core/job_spec.h.
#ifndef SKERRY_COORDINATOR_CONVERT_JOB_SPEC_H_
#define SKERRY_COORDINATOR_CONVERT_JOB_SPEC_H_

#include "absl/status/statusor.h"
#include "coordinator/core/job_spec.h"
#include "proto/skerry/v1/job.pb.h"

namespace skerry::coordinator {

// Errors: InvalidArgument names the field.
absl::StatusOr<JobSpec> JobSpecFromProto(const v1::JobSpec& spec);
void JobSpecToProto(const JobSpec& spec, v1::JobSpec* out);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CONVERT_JOB_SPEC_H_
