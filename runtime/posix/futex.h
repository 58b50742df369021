// runtime/posix/futex.h
//
// Waits for a word that several processes share. The kernel wakes the waiters,
// nobody polls, and every wait has a deadline.
#ifndef SKERRY_RUNTIME_POSIX_FUTEX_H_
#define SKERRY_RUNTIME_POSIX_FUTEX_H_

#include <time.h>

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace skerry::runtime {

// A point on the machine's monotonic clock.
class FutexDeadline {
 public:
  static FutexDeadline After(absl::Duration from_now);
  const timespec& at() const { return at_; }

 private:
  explicit FutexDeadline(timespec at) : at_(at) {}
  timespec at_;
};

// Blocks while `word` holds `expected`. True when it may have changed, which
// the caller checks; false when the deadline passed first. The word may lie in
// memory shared between processes.
bool FutexWait(std::atomic<uint32_t>& word, uint32_t expected,
               const FutexDeadline& deadline);

// Wakes every thread of every process that waits for `word`.
void FutexWakeAll(std::atomic<uint32_t>& word);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_FUTEX_H_
