#include "cli/commands/top.h"

#include <ostream>

#include "base/status.h"
#include "cli/poll.h"
#include "cli/top_view.h"

namespace skerry::cli {
namespace {

// Cursor to the corner, then everything behind it is cleared.
constexpr char kAnew[] = "\x1b[H\x1b[J";

}  // namespace

absl::Status ShowTop(Client& client, const TopArguments& arguments,
                     bool terminal, const Output& output) {
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

}  // namespace skerry::cli
