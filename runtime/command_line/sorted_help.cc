#include "runtime/command_line/sorted_help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace skerry::runtime {
namespace {

class SortedHelp final : public CLI::Formatter {
 public:
  // "TEXT Needs: --b --a Excludes: --d --c": the names stand behind a label.
  std::string make_option_opts(const CLI::Option* option) const override {
    std::vector<std::string> words =
        absl::StrSplit(CLI::Formatter::make_option_opts(option), ' ');
    for (const char* label : {"Needs:", "Excludes:"}) {
      const auto found = std::find(words.begin(), words.end(), label);
      if (found == words.end()) continue;
      const auto end = std::find_if(
          found + 1, words.end(),
          [](const std::string& word) { return absl::EndsWith(word, ":"); });
      std::sort(found + 1, end);
    }
    return absl::StrJoin(words, " ");
  }
};

}  // namespace

void SortHelp(CLI::App& app) { app.formatter(std::make_shared<SortedHelp>()); }

}  // namespace skerry::runtime
