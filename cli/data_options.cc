#include "cli/data_options.h"

#include <CLI/CLI.hpp>
#include <string>

#include "cli/word_checks.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {

void AddTextOptions(CLI::App& app, data::JsonLinesForm& lines,
                    std::optional<data::TextKind>& kind) {
  app.add_option("--json-key", lines.key,
                 "key under which a JSON line has its text")
      ->type_name("KEY")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--bad-lines",
         [&lines](const std::string& word) {
           lines.bad_lines =
               word == "skip" ? data::BadLines::kSkip : data::BadLines::kStop;
         },
         "what to do at a JSON line without a text, one of: stop or skip")
      ->check(IsOneOf({"stop", "skip"}))
      ->type_name("WORD")
      ->default_str("stop");
  app.add_option_function<std::string>(
         "--format",
         [&kind](const std::string& word) {
           if (word == "text") kind = data::TextKind::kText;
           if (word == "jsonl") kind = data::TextKind::kJsonLines;
         },
         "what the inputs hold, where auto goes by content and name; one "
         "of: auto, text or jsonl")
      ->check(IsOneOf({"auto", "text", "jsonl"}))
      ->type_name("WORD")
      ->default_str("auto");
}

CLI::Option* AddValidation(CLI::App& app, double& fraction) {
  return runtime::AddNumber(app, "--validation", fraction, {0, 0.5},
                            "share kept for validation, 0 to 0.5")
      ->capture_default_str();
}

void AddShardTokens(CLI::App& app, uint64_t& tokens_max) {
  runtime::AddNumber(app, "--shard-tokens", tokens_max, {.low = 1},
                     "tokens in a shard, at most")
      ->capture_default_str();
}

}  // namespace skerry::cli
