// cli/commands/explain.h
//
// skerryctl explain: tells what a field of a job file means.
#ifndef SKERRY_CLI_COMMANDS_EXPLAIN_H_
#define SKERRY_CLI_COMMANDS_EXPLAIN_H_

#include "cli/command.h"

namespace skerry::cli {

Command ExplainCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_EXPLAIN_H_
