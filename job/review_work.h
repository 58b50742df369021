// job/review_work.h
//
// Validates the part of a job that it computes: training, exchange and the
// outer loop.
#ifndef SKERRY_JOB_REVIEW_WORK_H_
#define SKERRY_JOB_REVIEW_WORK_H_

#include <string>
#include <vector>

#include "job/job_spec.h"
#include "job/spec_problems.h"

namespace skerry::job {

// Appends what is impossible to `problems`, and what is accepted but not
// advised to `warnings`. Requires: FillDefaults(spec) has run.
void ReviewFilledWork(const JobSpec& spec, std::vector<std::string>& warnings,
                      SpecProblems& problems);

}  // namespace skerry::job

#endif  // SKERRY_JOB_REVIEW_WORK_H_
