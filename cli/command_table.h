// cli/command_table.h
//
// Lists all commands of skerryctl, in the order in which its help shows them.
#ifndef SKERRY_CLI_COMMAND_TABLE_H_
#define SKERRY_CLI_COMMAND_TABLE_H_

#include <string>
#include <vector>

#include "cli/command.h"

namespace skerry::cli {

// A word that has commands behind it.
struct CommandGroup {
  std::string word;
  std::string about;
};

const std::vector<CommandGroup>& CommandGroups();
const std::vector<Command>& Commands();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMAND_TABLE_H_
