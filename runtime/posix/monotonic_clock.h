// runtime/posix/monotonic_clock.h
//
// Reads the clock behind every Instant of a real process.
#ifndef SKERRY_RUNTIME_POSIX_MONOTONIC_CLOCK_H_
#define SKERRY_RUNTIME_POSIX_MONOTONIC_CLOCK_H_

#include "base/instant.h"

namespace skerry::runtime {

// CLOCK_MONOTONIC: never set back, stands still while the machine sleeps.
Instant MonotonicNow();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_MONOTONIC_CLOCK_H_
