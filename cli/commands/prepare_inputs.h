// cli/commands/prepare_inputs.h
//
// What `data prepare` has to know of its inputs before it encodes the first:
// which bytes they are, and where the validation split begins.
#ifndef SKERRY_CLI_COMMANDS_PREPARE_INPUTS_H_
#define SKERRY_CLI_COMMANDS_PREPARE_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "cli/commands/text_units.h"
#include "runtime/files.h"

namespace skerry::cli {

struct PrepareInput {
  std::string path;
  // By the ending .jsonl of its name.
  bool is_json_lines = false;
  uint64_t bytes = 0;
  std::string sha256;
  // Of its documents.
  uint64_t text_bytes = 0;
};

// A place in the inputs, in the order of the command line.
struct InputPlace {
  size_t input = 0;
  uint64_t byte = 0;
  friend bool operator==(const InputPlace&, const InputPlace&) = default;
};

struct PrepareInputs {
  std::vector<PrepareInput> inputs;
  // `fraction` of the text's bytes before the end, moved on to the start of a
  // line or document unless that would leave nothing; the end of the inputs
  // for none.
  InputPlace validation;
  uint64_t training_bytes = 0;
  uint64_t validation_bytes = 0;
};

// Reads all inputs once, and that in which validation begins twice. Errors:
// InvalidArgument that names file and line, or when the text is too short for
// the splits; those of `files`.
absl::StatusOr<PrepareInputs> ScanInputs(const std::vector<std::string>& paths,
                                         const TextForm& form, double fraction,
                                         const runtime::Files& files,
                                         ParallelExecutor& executor);

// The bytes of one of them. Errors also: FailedPrecondition when they are
// others than `input` says.
absl::StatusOr<std::vector<std::byte>> ReadInput(const PrepareInput& input,
                                                 const runtime::Files& files);

// Those bytes as text.
std::string_view TextIn(std::span<const std::byte> bytes);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_PREPARE_INPUTS_H_
