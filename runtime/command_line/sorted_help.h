// runtime/command_line/sorted_help.h
//
// Prints help that is the same in every run of a program.
#ifndef SKERRY_RUNTIME_COMMAND_LINE_SORTED_HELP_H_
#define SKERRY_RUNTIME_COMMAND_LINE_SORTED_HELP_H_

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::runtime {

// Makes the help of `app` name the options that another one needs or excludes
// in the order of their names. The library names them in the order of their
// addresses, which differs from run to run. Subcommands that are added later
// do the same.
void SortHelp(CLI::App& app);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_COMMAND_LINE_SORTED_HELP_H_
