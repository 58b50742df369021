// cli/commands/train_tokenizer.h
//
// skerryctl data train-tokenizer: a tokenizer.json out of texts.
#ifndef SKERRY_CLI_COMMANDS_TRAIN_TOKENIZER_H_
#define SKERRY_CLI_COMMANDS_TRAIN_TOKENIZER_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/command.h"
#include "data/json_lines.h"
#include "data/text_kind.h"
#include "runtime/files.h"

namespace skerry::cli {

struct TrainTokenizerArguments {
  // As of data prepare.
  std::vector<std::string> inputs;
  data::JsonLinesForm lines = {};
  std::optional<data::TextKind> input_kind = std::nullopt;
  // The file to write.
  std::string out = "";
  int vocab_size = 32768;
  // Pairs that are seen less often are not joined.
  uint64_t min_frequency = 2;
  // gpt2 | llama3: how texts are cut in pieces.
  std::string kind = "gpt2";
  // Get the first numbers; <|endoftext|> alone when none is named.
  std::vector<std::string> specials;
};

// Writes the file and prints what it holds. Errors: InvalidArgument;
// AlreadyExists when another file is there; those of `files`.
absl::Status TrainTokenizer(const TrainTokenizerArguments& arguments,
                            runtime::Files& files, std::ostream& out);

Command TrainTokenizerCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_TRAIN_TOKENIZER_H_
