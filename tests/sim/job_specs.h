// tests/sim/job_specs.h
//
// Makes the specification of a schedule's job, as an operator would have
// written it.
#ifndef SKERRY_TESTS_SIM_JOB_SPECS_H_
#define SKERRY_TESTS_SIM_JOB_SPECS_H_

#include <cstdint>

#include "job/job_spec.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {

// The name of the program that trains jobs which have one.
inline constexpr char kProgram[] = "loop";

// Its name is "job-INDEX".
job::JobSpec SpecOf(const JobShape& shape, uint32_t index);

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_JOB_SPECS_H_
