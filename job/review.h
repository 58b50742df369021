// job/review.h
//
// Validates jobs. Submit, `plan`, the worker and the trainer all call this one
// validator, so all of them accept the same jobs.
#ifndef SKERRY_JOB_REVIEW_H_
#define SKERRY_JOB_REVIEW_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "job/job_spec.h"
#include "job/spec_problems.h"

namespace skerry::job {

struct ReviewedSpec {
  // With every default filled in.
  JobSpec spec;
  // What was accepted although it is not advised, one line each.
  std::vector<std::string> warnings;
};

// Fills defaults and checks the whole job. Reviewing a filled spec again
// changes nothing.
//
// Errors: InvalidArgument with every problem at once, one a line: the field's
// path, its bound, the value, what to do.
absl::StatusOr<ReviewedSpec> ReviewJobSpec(const JobSpec& submitted);

// Does the same for a caller that wants the problems one by one. `reviewed` may
// be used if there are none.
void ReviewJobSpec(ReviewedSpec& reviewed, SpecProblems& problems);

// Fills defaults and checks only what workers and trainers compute with:
// training, exchange and the outer loop. Names, paths and the model's text are
// not looked at: jobs of an older release, accepted under other rules for
// those, go on.
//
// Errors: as ReviewJobSpec.
absl::StatusOr<JobSpec> ReviewWork(JobSpec spec);

}  // namespace skerry::job

#endif  // SKERRY_JOB_REVIEW_H_
