// cli/commands/describe.h
//
// skerryctl describe: tells everything about one job or one worker.
#ifndef SKERRY_CLI_COMMANDS_DESCRIBE_H_
#define SKERRY_CLI_COMMANDS_DESCRIBE_H_

#include "cli/command.h"

namespace skerry::cli {

// A worker is described with the newest of its events.
Command DescribeJobCommand();
Command DescribeWorkerCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DESCRIBE_H_
