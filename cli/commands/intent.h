// cli/commands/intent.h
//
// skerryctl cordon, uncordon and drain: say what a worker is wanted for.
#ifndef SKERRY_CLI_COMMANDS_INTENT_H_
#define SKERRY_CLI_COMMANDS_INTENT_H_

#include "cli/command.h"

namespace skerry::cli {

// Each prints the worker's state as it then is; a drain goes on behind it.
Command CordonCommand();
Command UncordonCommand();
Command DrainCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_INTENT_H_
