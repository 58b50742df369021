#include "runtime/posix/mutex.h"

#include <chrono>

namespace skerry::runtime {
namespace {

// steady_clock and CLOCK_MONOTONIC are one clock in libstdc++.
std::chrono::steady_clock::time_point ToSteady(Instant when) {
  return std::chrono::steady_clock::time_point(
      absl::ToChronoNanoseconds(when.since_start()));
}

}  // namespace

void CondVar::Wait(Mutex& mutex) {
  std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
  changed_.wait(lock);
  lock.release();
}

bool CondVar::WaitUntil(Mutex& mutex, Instant when) {
  std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
  const std::cv_status ended = changed_.wait_until(lock, ToSteady(when));
  lock.release();
  return ended == std::cv_status::no_timeout;
}

}  // namespace skerry::runtime
