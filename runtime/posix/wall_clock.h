// runtime/posix/wall_clock.h
//
// The time that people and certificates go by. Decisions about work see an
// Instant (base/instant.h) instead, since this clock may be set.
#ifndef SKERRY_RUNTIME_POSIX_WALL_CLOCK_H_
#define SKERRY_RUNTIME_POSIX_WALL_CLOCK_H_

#include "absl/time/time.h"

namespace skerry::runtime {

absl::Time WallTime();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_WALL_CLOCK_H_
