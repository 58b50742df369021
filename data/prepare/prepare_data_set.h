// data/prepare/prepare_data_set.h
//
// Turns text files into a data set that workers train on. A run that was cut
// off is gone on with.
#ifndef SKERRY_DATA_PREPARE_PREPARE_DATA_SET_H_
#define SKERRY_DATA_PREPARE_PREPARE_DATA_SET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "data/json_lines.h"
#include "data/manifest.h"
#include "data/prepare/data_set_writer.h"
#include "data/prepare/piped_inputs.h"
#include "data/prepare/prepare_encoding.h"
#include "data/prepare/prepare_inputs.h"
#include "data/prepare/prepare_record.h"
#include "data/prepare/text_units.h"
#include "data/sentencepiece/channel.h"
#include "data/text_kind.h"
#include "data/tokenizer/text_codec.h"
#include "runtime/files.h"

namespace skerry::data {

struct PrepareOptions {
  // Files of text or of JSON lines, packed or not, taken one after another in
  // this order; `-` is standard input.
  std::vector<std::string> inputs;
  JsonLinesForm lines = {};
  // The kind of all inputs. Without it each one's content and name decide.
  std::optional<TextKind> kind = std::nullopt;
  EncodingOptions encoding = {};
  // Made when it is not there.
  std::string output_directory;
  // Share of the text, from its end, that is kept for validation, within
  // SplitTolerance; 0 for none.
  double validation_fraction = 0.05;
  uint64_t shard_tokens_max = 100'000'000;
  // Text that a thread encodes at a time; nothing of the result depends on it.
  size_t unit_bytes = 1 << 18;
};

// What the work is done with. All of it outlives the call.
struct PrepareMachine {
  ParallelExecutor& executor;
  // Starts what encodes for a model of sentencepiece.
  OpenChannel sentencepiece;
  // Seconds since some moment, for lines of progress.
  std::function<double()> seconds;
  runtime::Files& files;
  // Gets notes and progress.
  std::ostream& err;
};

// A data set that was made, and what was seen on the way. The folder is held,
// and copies of pipes stay in it, as long as this lives.
struct PreparedSet {
  DataSetWriter writer;
  PipedInputs piped;
  PrepareInputs inputs;
  PrepareRecord record;
  Manifest manifest;
  TextForm form;
  std::unique_ptr<TextCodec> codec;
};

// Writes as data_set_writer.h says. The cut between the splits lies as
// prepare_inputs.h says. Bytes mark documents of JSON lines by a line break
// after each; a tokenizer, which is written beside the manifest, by its own
// tokens.
//
// Keeps a record of its inputs and of the shards it has written
// (prepare_record.h), so the same command goes on where another was cut off,
// and makes the bytes that one alone makes. Memory does not grow with the
// inputs: it is forty units for each thread, or seven times the longest JSON
// line, or document that the tokenizer cannot encode in parts, if that is more.
//
// Errors: InvalidArgument for options out of range, or text too short for
// them, or an input of a kind that is not read; AlreadyExists when the
// directory holds another data set, one begun with other inputs or options, or
// a file in the way; FailedPrecondition when an input changes meanwhile, or
// another process writes into the directory; what `files` returns.
absl::StatusOr<PreparedSet> PrepareDataSet(const PrepareOptions& options,
                                           const PrepareMachine& machine);

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_PREPARE_DATA_SET_H_
