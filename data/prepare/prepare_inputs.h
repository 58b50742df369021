// data/prepare/prepare_inputs.h
//
// Finds out what `data prepare` has to know before it encodes its first input:
// a hash of each input's bytes, and where the validation split begins.
#ifndef SKERRY_DATA_PREPARE_PREPARE_INPUTS_H_
#define SKERRY_DATA_PREPARE_PREPARE_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "data/json_lines.h"
#include "data/prepare/input_reader.h"
#include "data/prepare/piped_inputs.h"
#include "data/prepare/text_units.h"
#include "data/text_kind.h"
#include "runtime/files.h"

namespace skerry::data {

struct PrepareInput {
  InputFile file;
  TextKind kind = TextKind::kText;
  Packing packing = Packing::kNone;
  // Size and SHA-256 of its content, unpacked.
  uint64_t bytes = 0;
  std::string sha256;
  // Bytes of its documents' texts.
  uint64_t text_bytes = 0;
  // What was counted of JSON lines.
  JsonLineCounts lines;

  bool is_json_lines() const { return kind == TextKind::kJsonLines; }
};

// A place in the inputs' contents, in the order of the command line.
struct InputPlace {
  size_t input = 0;
  uint64_t byte = 0;
  friend bool operator==(const InputPlace&, const InputPlace&) = default;
};

// Where the validation split begins: its first document, or the line whose text
// is torn.
struct SplitPlace {
  InputPlace place;
  // Bytes of that line's text that are for training.
  uint64_t text = 0;
  // Where training ends in that input: there, or behind the line that is torn.
  uint64_t training_end = 0;
  friend bool operator==(const SplitPlace&, const SplitPlace&) = default;
};

struct PrepareInputs {
  std::vector<PrepareInput> inputs;
  // The end of the inputs when nothing is for validation.
  SplitPlace validation;
  uint64_t training_bytes = 0;
  uint64_t validation_bytes = 0;
  // Whether the split lies where release 0.1.0 put it: behind the line or
  // document that the share ends in, however long that is.
  bool splits_as_before = true;

  uint64_t documents() const;
};

// How far the validation split may be from its share of `total` bytes of text,
// of which it should have `wanted`: a quarter of the share; or 4 KiB if that is
// more, but no more than an eighth of the text.
uint64_t SplitTolerance(uint64_t total, uint64_t wanted);

struct ScanOptions {
  TextForm form;
  // The kind of all inputs. Without it each one's content and name decide.
  std::optional<TextKind> kind = std::nullopt;
  // Share of the text's bytes, at its end, that is for validation.
  double validation_fraction = 0;
  // Text that a thread looks at at a time.
  size_t unit_bytes = 1 << 18;
};

// Reads all inputs once, and a part of the one in which validation begins
// twice. The split lies between two lines of a text or two documents of JSON
// lines when there is such a place within the tolerance, the first one behind
// the share's beginning or else the last one before it; otherwise the line or
// document there is cut between two characters. Memory is two MiB for each
// thread, or the longest line. Errors: InvalidArgument that names file, line
// and column, or when the text is too short for the splits; those of `files`.
absl::StatusOr<PrepareInputs> ScanInputs(std::span<const InputFile> files_given,
                                         const ScanOptions& options,
                                         const runtime::Files& files,
                                         ParallelExecutor& executor);

// Opens an input that was scanned.
absl::StatusOr<InputReader> OpenInput(const PrepareInput& input,
                                      const runtime::Files& files);

// The error for an input whose bytes are others than the scan saw.
absl::Status HasChanged(const PrepareInput& input);

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_PREPARE_INPUTS_H_
