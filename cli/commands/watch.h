// cli/commands/watch.h
//
// skerryctl watch: shows a job as it goes on.
#ifndef SKERRY_CLI_COMMANDS_WATCH_H_
#define SKERRY_CLI_COMMANDS_WATCH_H_

#include "absl/status/statusor.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/shared_options.h"

namespace skerry::cli {

// Prints a line, or a JSON object on one line, at every change until the job
// ends. The exit code says how it ended. Errors: the client's.
absl::StatusOr<ExitCode> WatchJob(const JobArguments& arguments, Client& client,
                                  const Output& output);

Command WatchJobCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_WATCH_H_
