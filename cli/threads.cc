#include "cli/threads.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "cli/number_limits.h"
#include "runtime/command_line/number_option.h"
#include "runtime/posix/cpu_limit.h"

namespace skerry::cli {

absl::StatusOr<int> ThreadsOf(int wanted) {
  if (wanted < 0 || wanted > kThreadsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--threads is ", wanted, ", must be 1 to ", kThreadsMax));
  }
  if (wanted > 0) return wanted;
  return runtime::UsableCpus();
}

void AddThreads(CLI::App& app, int& threads) {
  runtime::AddNumber(app, "--threads", threads, {1, kThreadsMax},
                     "threads; default: as many as this process may use");
}

}  // namespace skerry::cli
