// cli/confirm.h
//
// The question before something that cannot be undone.
#ifndef SKERRY_CLI_CONFIRM_H_
#define SKERRY_CLI_CONFIRM_H_

#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace skerry::cli {

// Asks whoever sits at a terminal, unless they are `sure`. Errors:
// FailedPrecondition when they do not want it.
absl::Status Confirm(const std::string& what, bool sure, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_CONFIRM_H_
