#include "cli/poll.h"

#include <algorithm>

#include "absl/synchronization/notification.h"
#include "base/instant.h"
#include "base/status.h"
#include "runtime/posix/posix_loop.h"

namespace skerry::cli {

absl::Status PollUntil(absl::Duration interval, absl::Duration limit,
                       absl::FunctionRef<absl::StatusOr<bool>()> ask) {
  runtime::PosixLoop loop("poll");
  const Instant start = loop.Now();
  while (true) {
    SKERRY_ASSIGN_OR_RETURN(const bool done, ask());
    if (done) return absl::OkStatus();
    const absl::Duration left = limit - (loop.Now() - start);
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError("the time to wait is over");
    }
    absl::Notification due;
    loop.Post([&] {
      loop.RunAt(loop.Now() + std::min(interval, left), [&] { due.Notify(); });
    });
    due.WaitForNotification();
  }
}

}  // namespace skerry::cli
