// job/convert/job_spec.h
//
// Converts job.proto to the job spec and back. It checks the form only;
// job/review.h judges what the numbers mean together. A field that is not set
// takes its default. A field that is set to zero is zero.
#ifndef SKERRY_JOB_CONVERT_JOB_SPEC_H_
#define SKERRY_JOB_CONVERT_JOB_SPEC_H_

#include "absl/status/statusor.h"
#include "job/job_spec.h"
#include "proto/skerry/v1/job.pb.h"

namespace skerry::job {

// Errors: InvalidArgument names the field.
absl::StatusOr<JobSpec> JobSpecFromProto(const v1::JobSpec& spec);
void JobSpecToProto(const JobSpec& spec, v1::JobSpec* out);

}  // namespace skerry::job

#endif  // SKERRY_JOB_CONVERT_JOB_SPEC_H_
