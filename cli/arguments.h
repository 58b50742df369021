// cli/arguments.h
//
// The command line as values.
#ifndef SKERRY_CLI_ARGUMENTS_H_
#define SKERRY_CLI_ARGUMENTS_H_

#include <any>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_walk.h"
#include "cli/exit_code.h"

namespace skerry::cli {

struct CommandLine {
  // A row of the table.
  const Command* command = nullptr;
  // Those of the command, of its own type.
  std::any arguments;
  SharedArguments shared;
  // The job and the worker that the line names, for a hint when there is none
  // of that name.
  std::string job;
  std::string worker;
};

struct Parsed {
  // None when there is nothing to run: help was asked for, or the line is
  // wrong.
  std::optional<CommandLine> line;
  // For standard output (help), or one line for standard error.
  std::string text;
  ExitCode code = ExitCode::kOk;
};

// `words` without the program's name.
Parsed ParseArguments(std::vector<std::string> words);

// What can stand in the place of the last of `words`.
Completion CompleteArguments(const std::vector<std::string>& words);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_ARGUMENTS_H_
