// cli/commands/complete.h
//
// skerryctl completion, and what its scripts ask while a line is typed.
#ifndef SKERRY_CLI_COMMANDS_COMPLETE_H_
#define SKERRY_CLI_COMMANDS_COMPLETE_H_

#include "cli/command.h"
#include "cli/command_walk.h"

namespace skerry::cli {

// Prints the script for bash, zsh or fish.
Command CompletionCommand();

// The command that the scripts call: it is hidden, and the words behind it are
// a half line.
inline constexpr char kHalfLineWord[] = "__complete";

// What can stand in the place of the line's last word.
struct HalfLineArguments {
  Completion completion;
};

// Prints candidates, one a line; ":files" where the shell's own names of files
// belong. A coordinator that does not answer within 0.3 s adds nothing and is
// not mentioned.
Command HalfLineCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_COMPLETE_H_
