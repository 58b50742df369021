// cli/job_end.h
//
// Tells whoever follows a job what its end means.
#ifndef SKERRY_CLI_JOB_END_H_
#define SKERRY_CLI_JOB_END_H_

#include "cli/exit_code.h"
#include "cli/output.h"
#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

bool HasEnded(v1::JobPhase phase);

// Returns what an ended job means for scripts.
ExitCode ExitCodeOf(const v1::JobView& job);

// Prints the line that goes with ExitCode::kNotSaved.
void SayNotSaved(const v1::JobView& job, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_JOB_END_H_
