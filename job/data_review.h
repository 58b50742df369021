// job/data_review.h
//
// Checks whether a job can train on a data set: the manifest must be the one
// that the job names, the model must know the data's tokens, and there must be
// at least one sample.
#ifndef SKERRY_JOB_DATA_REVIEW_H_
#define SKERRY_JOB_DATA_REVIEW_H_

#include <string>
#include <vector>

#include "job/data_facts.h"
#include "job/job_spec.h"
#include "job/spec_problems.h"

namespace skerry::job {

// Requires: ReviewJobSpec(spec) found nothing, and filled it.
void ReviewData(const JobSpec& spec, const DataFacts& facts,
                std::vector<std::string>& warnings, SpecProblems& problems);

}  // namespace skerry::job

#endif  // SKERRY_JOB_DATA_REVIEW_H_
