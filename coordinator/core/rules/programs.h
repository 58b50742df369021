// coordinator/core/rules/programs.h
//
// Decides which workers can run the program that a job names. Their operators
// allow programs by name, and all of the job's workers have to run the same
// file.
#ifndef SKERRY_COORDINATOR_CORE_RULES_PROGRAMS_H_
#define SKERRY_COORDINATOR_CORE_RULES_PROGRAMS_H_

#include <string>
#include <vector>

#include "coordinator/core/state/worker_table.h"
#include "job/job_spec.h"
#include "job/spec_problems.h"

namespace skerry::coordinator {

// What the worker has said of the job's program. Null when it does not allow
// the program, or when the job names none.
const protocol::ProgramFact* ProgramOn(const job::JobSpec& spec,
                                       const Worker& worker);

// Says in words why the worker cannot run the job's program. Empty when it can,
// or when the job names none. `sha256` is that of the program of the job's
// first worker, and is empty while the job has none; what the job itself names
// goes before it.
std::string WhyNoProgram(const job::JobSpec& spec, const std::string& sha256,
                         const Worker& worker);

// Adds to `problems` that none of the workers can run the program, or to
// `warnings` that some of them cannot. Without workers it adds nothing.
void ReviewPrograms(const job::JobSpec& spec,
                    const std::vector<const Worker*>& workers,
                    std::vector<std::string>& warnings,
                    job::SpecProblems& problems);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_PROGRAMS_H_
