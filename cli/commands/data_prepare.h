// cli/commands/data_prepare.h
//
// skerryctl data prepare: turns text files into a data set that workers train
// on.
#ifndef SKERRY_CLI_COMMANDS_DATA_PREPARE_H_
#define SKERRY_CLI_COMMANDS_DATA_PREPARE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"
#include "data/json_lines.h"
#include "data/text_kind.h"
#include "data/tokenizer_file.h"
#include "runtime/files.h"

namespace skerry::cli {

struct DataPrepareOptions {
  // Files of text or of JSON lines, packed or not, taken one after another in
  // this order; `-` is standard input.
  std::vector<std::string> inputs;
  data::JsonLinesForm lines = {};
  // The kind of all inputs. Without it each one's content and name decide.
  std::optional<data::TextKind> kind = std::nullopt;
  // A tokenizer's file; bytes when it is empty.
  std::string tokenizer = "";
  // Content of the special token that ends a document, or `none`; empty for
  // what the tokenizer says or the name that public ones give it.
  std::string document_end = "";
  // What becomes of a text that is written like a special token.
  data::TokenizerFile::WrittenSpecials written_specials =
      data::TokenizerFile::WrittenSpecials::kToken;
  // What encodes for a model of sentencepiece.
  std::string sentencepiece_program = "";
  // Made when it is not there.
  std::string output_directory;
  // Share of the text, from its end, that is kept for validation, within
  // SplitTolerance; 0 for none.
  double validation_fraction = 0.05;
  uint64_t shard_tokens_max = 100'000'000;
  // 0: as many as this process may use.
  int threads = 0;
  // Text that a thread encodes at a time; nothing of the result depends on it.
  size_t unit_bytes = 1 << 18;
};

// Writes as data_set_writer.h says. The cut between the splits lies as
// prepare_inputs.h says. Bytes mark documents of JSON
// lines by a line break after each; a tokenizer, which is written beside the
// manifest, by its own tokens. Prints what was made, what was counted of the
// documents and, of bytes, how well n-gram models predict the validation split.
//
// Keeps a record of its inputs and of the shards it has written
// (prepare_record.h), so the same command goes on where another was cut off,
// and makes the bytes that one alone makes. Memory does not grow with the
// inputs: it is forty units for each thread, or seven times the longest JSON
// line, or document that the tokenizer cannot encode in parts, if that is more.
// Pipes are kept in the folder until the command ends.
//
// Errors: InvalidArgument for options out of range, or text too short for
// them, or an input of a kind that is not read; AlreadyExists when the
// directory holds another data set, one begun with other inputs or options, or
// a file in the way; FailedPrecondition when an input changes meanwhile, or
// another process writes into the directory; what `files` returns.
absl::Status DataPrepare(const DataPrepareOptions& options,
                         runtime::Files& files, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DATA_PREPARE_H_
