// runtime/command_line/word_option.h
//
// Adds an option that takes one of a few words to a command line. CLI11's own
// message about another word shows the numbers behind the words.
#ifndef SKERRY_RUNTIME_COMMAND_LINE_WORD_OPTION_H_
#define SKERRY_RUNTIME_COMMAND_LINE_WORD_OPTION_H_

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace skerry::runtime {

// `value` is a T or an optional T, keeps what it has when the option is not
// given, and outlives `app`. Requires: `words` has two words at least.
template <typename T, typename Value>
CLI::Option* AddWord(CLI::App& app, const std::string& name, Value& value,
                     const std::map<std::string, T>& words,
                     const std::string& about) {
  std::vector<std::string> known;
  for (const auto& [word, meaning] : words) known.push_back(word);
  const std::string last = known.back();
  known.pop_back();
  const std::string choice =
      absl::StrCat(absl::StrJoin(known, ", "), " or ", last);
  const CLI::Validator is_known(
      [words, choice](const std::string& text) -> std::string {
        if (words.contains(text)) return "";
        return absl::StrCat("has to be ", choice, ", not \"", text, "\"");
      },
      "");
  return app
      .add_option_function<std::string>(
          name,
          [&value, words](const std::string& text) { value = words.at(text); },
          about)
      ->check(is_known);
}

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_COMMAND_LINE_WORD_OPTION_H_
