// cli/job_end.h
//
// What the end of a job means for whoever follows it.
#ifndef SKERRY_CLI_JOB_END_H_
#define SKERRY_CLI_JOB_END_H_

#include "cli/exit_code.h"
#include "cli/output.h"
#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

bool HasEnded(v1::JobPhase phase);

// What an ended job means for scripts.
ExitCode ExitCodeOf(const v1::JobView& job);

// The line that goes with ExitCode::kNotSaved.
void SayNotSaved(const v1::JobView& job, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_JOB_END_H_
