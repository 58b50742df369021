// cli/commands/complete.h
//
// skerryctl completion, and what its scripts ask while a line is typed.
#ifndef SKERRY_CLI_COMMANDS_COMPLETE_H_
#define SKERRY_CLI_COMMANDS_COMPLETE_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "cli/command_walk.h"
#include "cli/output.h"
#include "runtime/files.h"

namespace skerry::cli {

// The script for bash, zsh or fish. Errors: InvalidArgument for another shell.
absl::Status PrintCompletionScript(const std::string& shell,
                                   const Output& output);

// Candidates, one a line; ":files" where the shell's own names of files belong.
// A coordinator that does not answer within 0.3 s, at `address` if the line and
// the environment name none, adds nothing and is not mentioned.
void PrintCandidates(const Completion& completion, const std::string& address,
                     const runtime::Files& files, std::ostream& out);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_COMPLETE_H_
