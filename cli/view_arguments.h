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

// Adds the options of a command that waits until a `what` is in one of
// `states`. `limit` gets the text of --timeout.
void AddWaitOptions(CLI::App* leaf, const std::string& what,
                    const std::vector<std::string>& states,
                    WaitArguments& wanted, std::string& limit);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_VIEW_ARGUMENTS_H_
