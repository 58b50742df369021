// cli/commands/data_import.h
//
// skerryctl data import: turns tokens that another tool has made into a data
// set that workers train on.
#ifndef SKERRY_CLI_COMMANDS_DATA_IMPORT_H_
#define SKERRY_CLI_COMMANDS_DATA_IMPORT_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/command.h"
#include "runtime/files.h"

namespace skerry::cli {

struct DataImportOptions {
  // Shards of llm.c (.bin), arrays of NumPy (.npy), indices of Megatron (.idx,
  // with the .bin beside it), one after another in this order.
  std::vector<std::string> inputs;
  // Likewise, for the validation split.
  std::vector<std::string> validation_inputs = {};
  // Without such inputs: share of the tokens, from their end, that is kept for
  // validation; 0 for none.
  double validation_fraction = 0.05;
  // The file of the tokenizer that made them; without one the data can be
  // trained on, but no text be generated.
  std::string tokenizer = "";
  // Above every token; that of the tokenizer when not given.
  std::optional<int> vocab_size = std::nullopt;
  // Made when it is not there.
  std::string output_directory;
  uint64_t shard_tokens_max = 100'000'000;
};

// What the manifest calls a tokenizer that nobody gave.
inline constexpr char kUnknownTokenizer[] = "unknown";

// Writes as data_set_writer.h says, and prints what was made. Every token is
// checked against the vocabulary. Without validation inputs everything is read
// twice.
//
// Errors: InvalidArgument with the file's name for options out of range, a file
// of an unknown kind, or a token outside the vocabulary; AlreadyExists when the
// directory holds another data set; those of `files`.
absl::Status DataImport(const DataImportOptions& options, runtime::Files& files,
                        std::ostream& out);

Command DataImportCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DATA_IMPORT_H_
