// cli/poll.h
//
// Asks a question again and again until the answer is final.
#ifndef SKERRY_CLI_POLL_H_
#define SKERRY_CLI_POLL_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace skerry::cli {

// Calls `ask` at once and then every `interval` until it answers true or an
// error, which is returned. Errors: DeadlineExceeded when `limit` has passed
// and the answer is still false.
absl::Status PollUntil(absl::Duration interval, absl::Duration limit,
                       absl::FunctionRef<absl::StatusOr<bool>()> ask);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_POLL_H_
