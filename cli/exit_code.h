// cli/exit_code.h
//
// These are the exit codes of skerryctl, for scripts. docs/skerryctl.md lists
// them.
#ifndef SKERRY_CLI_EXIT_CODE_H_
#define SKERRY_CLI_EXIT_CODE_H_

#include "absl/status/status.h"

namespace skerry::cli {

enum class ExitCode {
  kOk = 0,
  kInternal = 1,
  kUsage = 2,
  kNotFound = 3,
  kConflict = 4,
  kDenied = 5,
  // The command can safely be repeated.
  kUnavailable = 6,
  kInvalid = 7,
  kJobFailed = 8,
  kJobCancelled = 9,
  // The job succeeded, and its last state was not saved.
  kNotSaved = 10,
  // What `wait` waits for did not happen in time.
  kTimedOut = 124,
};

ExitCode ExitCodeFor(const absl::Status& status);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_EXIT_CODE_H_
