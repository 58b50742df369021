// data/prepare/validation_cut.h
//
// Where one input is cut into a training part and a validation part.
#ifndef SKERRY_DATA_PREPARE_VALIDATION_CUT_H_
#define SKERRY_DATA_PREPARE_VALIDATION_CUT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "data/prepare/input_reader.h"
#include "data/prepare/text_units.h"

namespace skerry::data {

// A place in an input's content, and the number of bytes of text before it.
// With `torn`, a JSON line begins there whose text is cut: its first `torn`
// bytes are before the cut too, and count in `text`.
struct Cut {
  uint64_t byte = 0;
  uint64_t text = 0;
  uint64_t torn = 0;
  // Where the part before the cut ends: at `byte`, or behind the line that is
  // torn.
  uint64_t training_end = 0;
  // Whether it lies where release 0.1.0 put it.
  bool is_as_before = true;
};

// What is asked of a cut.
struct CutOptions {
  // Bytes of text that should lie before it: at least 1, less than `all`.
  uint64_t wanted = 0;
  // Bytes of text of the input.
  uint64_t all = 0;
  // How far a cut between lines or documents may be from there.
  uint64_t tolerance = 0;
  // Whether there is text in the inputs before and after, so that nothing of
  // this one has to be left for a split.
  bool has_text_before = false;
  bool has_text_after = false;
};

// The cut of a text, which `reader` has at its beginning: behind a line feed,
// else before a character.
absl::StatusOr<Cut> CutText(InputReader& reader, const CutOptions& options);

// The cut of JSON lines: between two documents, else inside a text.
// `text_before` bytes of text lie before the place that `reader` is at, which
// is the beginning of a line.
absl::StatusOr<Cut> CutJsonLines(InputReader& reader, uint64_t text_before,
                                 const TextForm& form,
                                 const CutOptions& options);

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_VALIDATION_CUT_H_
