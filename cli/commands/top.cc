#include "cli/commands/top.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "base/status.h"
#include "cli/poll.h"
#include "cli/top_view.h"
#include "cli/word_checks.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

// Cursor to the corner, then everything behind it is cleared.
constexpr char kAnew[] = "\x1b[H\x1b[J";

absl::Status ShowTop(const TopArguments& arguments, Client& client,
                     const Output& output) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  TopView view;
  uint64_t shown = 0;
  return PollUntil(arguments.interval, absl::InfiniteDuration(),
                   [&]() -> absl::StatusOr<bool> {
                     SKERRY_ASSIGN_OR_RETURN(const v1::ListJobsReply jobs,
                                             client.ListJobs());
                     SKERRY_ASSIGN_OR_RETURN(const v1::ListWorkersReply workers,
                                             client.ListWorkers());
                     if (terminal) {
                       output.out << kAnew;
                     } else if (shown > 0) {
                       output.out << "\n";
                     }
                     output.out << view.Text(jobs, workers) << std::flush;
                     return ++shown == arguments.count;
                   });
}

void AddOptions(CLI::App& app, TopArguments& wanted) {
  AddDuration(app, "--interval", "from one look to the next", wanted.interval)
      ->default_str("2s");
  runtime::AddNumber(app, "--count", wanted.count, {},
                     "looks that it takes; 0 goes on until it is interrupted")
      ->capture_default_str();
}

}  // namespace

Command TopCommand() {
  return MakeCommand<TopArguments>({.words = "top",
                                    .about = "jobs and workers as they go on",
                                    .prints = Prints::kText,
                                    .add_options = AddOptions,
                                    .run = ShowTop});
}

}  // namespace skerry::cli
