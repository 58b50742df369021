// job/program_review.h
//
// Checks what is different in a job whose model is a user's own training
// program: it names the program, and leaves to it what the program decides.
#ifndef SKERRY_JOB_PROGRAM_REVIEW_H_
#define SKERRY_JOB_PROGRAM_REVIEW_H_

#include <string>

#include "job/job_spec.h"
#include "job/spec_problems.h"

namespace skerry::job {

// Requires: `model.program` is set. The job may not have a config.json too.
void ReviewProgram(const JobSpec::Model& model, SpecProblems& problems);

// The program opens its data by itself, so the job names no data set.
void ReviewProgramData(const JobSpec::Data& data, SpecProblems& problems);

// A warning where the job's last step is too short for programs of several
// ranks; empty where it is not.
std::string ShortStepWarning(const JobSpec::Training& training);

// Names every field that the job sets and the program decides.
void ReviewProgramTraining(const JobSpec::Training& training,
                           SpecProblems& problems);

}  // namespace skerry::job

#endif  // SKERRY_JOB_PROGRAM_REVIEW_H_
