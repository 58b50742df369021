// cli/commands/clean.h
//
// skerryctl clean: removes folders from a worker's disk that only an operator
// can decide about, above all those that a coordinator does not know because it
// has lost its journal.
#ifndef SKERRY_CLI_COMMANDS_CLEAN_H_
#define SKERRY_CLI_COMMANDS_CLEAN_H_

#include "cli/command.h"

namespace skerry::cli {

// Errors: the client's; InvalidArgument, a name is none of a folder;
// FailedPrecondition when who is asked does not want it.
Command CleanCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_CLEAN_H_
