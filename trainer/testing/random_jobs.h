// trainer/testing/random_jobs.h
//
// Draws jobs as users submit them: most fields as they should be, others near
// the bounds that they have, and far from all of them. Half of the jobs name a
// program.
#ifndef SKERRY_TRAINER_TESTING_RANDOM_JOBS_H_
#define SKERRY_TRAINER_TESTING_RANDOM_JOBS_H_

#include "base/random.h"
#include "proto/skerry/v1/job.pb.h"

namespace skerry::trainer {

// The text of config.json is RandomConfig's.
v1::JobSpec RandomJob(Random& random);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_TESTING_RANDOM_JOBS_H_
