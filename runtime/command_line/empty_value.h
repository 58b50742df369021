// runtime/command_line/empty_value.h
//
// Names, folders and addresses of a command line that are given and empty, as
// from a shell variable that is not set.
#ifndef SKERRY_RUNTIME_COMMAND_LINE_EMPTY_VALUE_H_
#define SKERRY_RUNTIME_COMMAND_LINE_EMPTY_VALUE_H_

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::runtime {

// Says which value of `app` and of the subcommands that were chosen is empty,
// and what to do; empty when none is. `app` has parsed its line. The options of
// `may_be_empty`, such as "--prompt", take any text.
std::string ExplainEmptyValue(
    const CLI::App& app,
    const std::vector<std::string_view>& may_be_empty = {});

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_COMMAND_LINE_EMPTY_VALUE_H_
