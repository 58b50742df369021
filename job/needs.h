// job/needs.h
//
// Computes how much main memory a job takes at least on each of its workers.
#ifndef SKERRY_JOB_NEEDS_H_
#define SKERRY_JOB_NEEDS_H_

#include <cstdint>

#include "job/job_spec.h"

namespace skerry::job {

struct Needs {
  // Parameters of the model; 0 when its config is not understood.
  uint64_t parameters = 0;
  // A trainer holds parameters, gradients and the optimizer's moments of the
  // whole model, and shares one more copy with its worker, all in fp32. Memory
  // for the outer loop and for activations comes on top and is not counted. So
  // a worker with less than this cannot work, and one with more may.
  uint64_t worker_bytes = 0;
};

Needs NeedsOf(const JobSpec& spec);

}  // namespace skerry::job

#endif  // SKERRY_JOB_NEEDS_H_
