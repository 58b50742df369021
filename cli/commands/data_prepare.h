// cli/commands/data_prepare.h
//
// skerryctl data prepare: text files to a data set that workers train on.
#ifndef SKERRY_CLI_COMMANDS_DATA_PREPARE_H_
#define SKERRY_CLI_COMMANDS_DATA_PREPARE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"
#include "runtime/files.h"

namespace skerry::cli {

struct DataPrepareOptions {
  // Text files, and files of JSON lines by their ending .jsonl, taken one after
  // another in this order.
  std::vector<std::string> inputs;
  // Key of a JSON line's text.
  std::string json_key = "text";
  // A tokenizer's file; bytes when it is empty.
  std::string tokenizer = "";
  // Content of the special token that ends a document, or `none`; empty for
  // what the tokenizer says or the name that public ones give it.
  std::string document_end = "";
  // What encodes for a model of sentencepiece.
  std::string sentencepiece_program = "";
  // Made when it is not there.
  std::string output_directory;
  // Share of the text, from its end, that is kept for validation; 0 for none.
  double validation_fraction = 0.05;
  uint64_t shard_tokens_max = 100'000'000;
  // 0: as many as the machine has.
  int threads = 0;
  // Text that a thread encodes at a time; nothing of the result depends on it.
  size_t unit_bytes = 1 << 20;
};

// Writes as data_set_writer.h says. The cut between the splits lies at the end
// of a line or document, so that none is torn. Bytes mark documents of JSON
// lines by a line break after each; a tokenizer, which is written beside the
// manifest, by its own tokens. Prints what was made and, of bytes, how well
// n-gram models predict the validation split.
//
// Keeps a record of its inputs and of the shards it has written
// (prepare_record.h), so the same command goes on where another was cut off,
// and makes the bytes that one alone makes. Memory is up to twice the largest
// input, and a shard.
//
// Errors: InvalidArgument for options out of range, or text too short for
// them; AlreadyExists when the directory holds another data set, or one begun
// with other inputs or options; FailedPrecondition when an input changes
// meanwhile; what `files` returns.
absl::Status DataPrepare(const DataPrepareOptions& options,
                         runtime::Files& files, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DATA_PREPARE_H_
