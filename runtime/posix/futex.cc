#include "runtime/posix/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace skerry::runtime {
namespace {
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);
}  // namespace

FutexDeadline FutexDeadline::After(absl::Duration from_now) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return FutexDeadline(
      absl::ToTimespec(absl::DurationFromTimespec(now) + from_now));
}

bool FutexWait(std::atomic<uint32_t>& word, uint32_t expected,
               const FutexDeadline& deadline) {
  // The bitset form is the one whose timeout is absolute.
  const long result =
      syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_BITSET,
              expected, &deadline.at(), nullptr, FUTEX_BITSET_MATCH_ANY);
  return !(result == -1 && errno == ETIMEDOUT);
}

void FutexWakeAll(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, INT_MAX,
          nullptr, nullptr, 0);
}

}  // namespace skerry::runtime
