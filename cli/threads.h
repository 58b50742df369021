// cli/threads.h
//
// Decides how many threads a command computes on.
#ifndef SKERRY_CLI_THREADS_H_
#define SKERRY_CLI_THREADS_H_

#include "absl/status/statusor.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::cli {

// `wanted`; for 0 as many as this process may use, its CPU quota included.
// Errors: InvalidArgument.
absl::StatusOr<int> ThreadsOf(int wanted);

// Adds the option for it. `threads` outlives `app`.
void AddThreads(CLI::App& app, int& threads);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_THREADS_H_
