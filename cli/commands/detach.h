// cli/commands/detach.h
//
// Stops following a job on an interrupt. The job goes on.
#ifndef SKERRY_CLI_COMMANDS_DETACH_H_
#define SKERRY_CLI_COMMANDS_DETACH_H_

#include <string>

namespace skerry::cli {

// From now on SIGINT ends the process with 130, after a line on standard error
// that says how to follow the job again.
void DetachOnInterrupt(const std::string& job);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DETACH_H_
