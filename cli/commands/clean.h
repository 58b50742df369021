// cli/commands/clean.h
//
// skerryctl clean: removes from a worker's disk what nobody else can decide
// about, above all the folders of a coordinator that has lost its journal.
#ifndef SKERRY_CLI_COMMANDS_CLEAN_H_
#define SKERRY_CLI_COMMANDS_CLEAN_H_

#include "cli/command.h"

namespace skerry::cli {

// Errors: the client's; InvalidArgument, a name is none of a folder;
// FailedPrecondition when who is asked does not want it.
Command CleanCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_CLEAN_H_
