// cli/commands/get.h
//
// skerryctl get: lists what the coordinator knows of.
#ifndef SKERRY_CLI_COMMANDS_GET_H_
#define SKERRY_CLI_COMMANDS_GET_H_

#include "cli/command.h"

namespace skerry::cli {

Command GetJobsCommand();
Command GetJobCommand();
Command GetWorkersCommand();
Command GetIslandsCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_GET_H_
