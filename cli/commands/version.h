// cli/commands/version.h
//
// skerryctl version: prints the releases of skerryctl and of the coordinator.
#ifndef SKERRY_CLI_COMMANDS_VERSION_H_
#define SKERRY_CLI_COMMANDS_VERSION_H_

#include "cli/command.h"

namespace skerry::cli {

Command VersionCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_VERSION_H_
