#include "runtime/posix/monotonic_clock.h"

#include <time.h>

#include "base/check.h"

namespace skerry::runtime {

Instant MonotonicNow() {
  timespec now;
  SKERRY_CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
  return Instant(absl::DurationFromTimespec(now));
}

}  // namespace skerry::runtime
