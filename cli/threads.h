// cli/threads.h
//
// Decides how many threads a command computes on.
#ifndef SKERRY_CLI_THREADS_H_
#define SKERRY_CLI_THREADS_H_

#include "absl/status/statusor.h"

namespace skerry::cli {

// `wanted`; for 0 as many as this process may use, its CPU quota included.
// Errors: InvalidArgument.
absl::StatusOr<int> ThreadsOf(int wanted);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_THREADS_H_
