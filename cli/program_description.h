// cli/program_description.h
//
// What a user's training program trains and how long it takes, as `python -m
// skerry describe` measures it on one machine without a cluster.
#ifndef SKERRY_CLI_PROGRAM_DESCRIPTION_H_
#define SKERRY_CLI_PROGRAM_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace skerry::cli {

struct ProgramDescription {
  // Elements of the flat model state; at least 1.
  uint64_t elements = 0;
  // Floating-point operations that training takes a sample. 0: the program has
  // none that are counted.
  double flops_per_sample = 0;
  // The time of one step on the machine where it was measured, and the samples
  // in that step; both above 0.
  double step_s = 0;
  uint64_t samples_per_step = 0;
  // The most that the device, or without one the process, had in use.
  uint64_t peak_memory_bytes = 0;

  friend bool operator==(const ProgramDescription&,
                         const ProgramDescription&) = default;
};

// Reads the JSON text. Its tensors have to add up to its elements. Members that
// are not known are skipped. Any text may be given.
//
// Errors: InvalidArgument names the member and what is wrong with it.
absl::StatusOr<ProgramDescription> ParseProgramDescription(
    std::string_view text);

// Reads the file of at most 64 MiB. Errors: InvalidArgument names the file.
absl::StatusOr<ProgramDescription> ReadProgramDescription(
    const std::string& path);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_PROGRAM_DESCRIPTION_H_
