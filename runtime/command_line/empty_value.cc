#include "runtime/command_line/empty_value.h"

#include <CLI/CLI.hpp>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace skerry::runtime {

std::string ExplainEmptyValue(
    const CLI::App& app, const std::vector<std::string_view>& may_be_empty) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (absl::c_linear_search(may_be_empty, name)) continue;
    const std::vector<std::string> values = option->results();
    if (!absl::c_linear_search(values, "")) continue;
    return absl::StrCat(name, " is empty: give it a value",
                        option->get_required() ? "" : ", or leave it out");
  }
  for (const CLI::App* chosen : app.get_subcommands()) {
    std::string line = ExplainEmptyValue(*chosen, may_be_empty);
    if (!line.empty()) return line;
  }
  return "";
}

}  // namespace skerry::runtime
