// coordinator/core/testing/specs.h
//
// Jobs for tests.
#ifndef SKERRY_COORDINATOR_CORE_TESTING_SPECS_H_
#define SKERRY_COORDINATOR_CORE_TESTING_SPECS_H_

#include <string>

#include "coordinator/core/job_spec.h"

namespace skerry::coordinator {

// Small and valid: local SGD, rounds of 8 samples a worker, 8 spans, an
// evaluation every 5 sequences.
JobSpec SmallJob(const std::string& name, uint64_t samples);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_TESTING_SPECS_H_
