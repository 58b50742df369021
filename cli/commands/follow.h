// cli/commands/follow.h
//
// skerryctl watch and logs: a job as it goes on.
#ifndef SKERRY_CLI_COMMANDS_FOLLOW_H_
#define SKERRY_CLI_COMMANDS_FOLLOW_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace skerry::cli {

// A line, or a JSON object a line, at every change until the job ends. How it
// ended is the exit code. Errors: the client's.
absl::StatusOr<ExitCode> WatchJob(Client& client, const std::string& name,
                                  const Output& output);

// One event a line, oldest first; with `follow` until the job ends. Errors: the
// client's.
absl::Status ShowEvents(Client& client, const std::string& name, bool follow,
                        const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_FOLLOW_H_
