#include "runtime/posix/wall_clock.h"

#include "absl/time/clock.h"

namespace skerry::runtime {

absl::Time WallTime() { return absl::Now(); }

}  // namespace skerry::runtime
