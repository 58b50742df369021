// cli/view_arguments.h
//
// The part of the command line that says which of several things are listed,
// and for what a command waits.
#ifndef SKERRY_CLI_VIEW_ARGUMENTS_H_
#define SKERRY_CLI_VIEW_ARGUMENTS_H_

#include <string>
#include <vector>

#include "cli/commands/follow.h"
#include "cli/listing.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::cli {

// For a command that prints a list.
void AddListOptions(CLI::App* leaf, ListArguments& wanted);

// For a command that waits until something is one of `states`, of which
// `what` is the kind. The text of --timeout goes to `limit`.
void AddWaitOptions(CLI::App* leaf, const std::string& what,
                    const std::vector<std::string>& states,
                    WaitArguments& wanted, std::string& limit);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_VIEW_ARGUMENTS_H_
