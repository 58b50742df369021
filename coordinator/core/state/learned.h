// coordinator/core/state/learned.h
//
// Learns durations from observations: it keeps a window of the newest ones and
// gives their quantiles. Timers are made of these. Nothing is durable: after a
// restart the timers begin with cautious defaults.
#ifndef SKERRY_COORDINATOR_CORE_STATE_LEARNED_H_
#define SKERRY_COORDINATOR_CORE_STATE_LEARNED_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/time/time.h"

namespace skerry::coordinator {

class LearnedDuration {
 public:
  // `window` > 0 observations are kept; nothing is answered before there are
  // `minimum` of them.
  LearnedDuration(size_t window, size_t minimum)
      : window_(window), minimum_(minimum) {}

  void Observe(absl::Duration duration);
  // The smallest observation that at least the share `quantile` in (0, 1] of
  // the window does not exceed.
  std::optional<absl::Duration> Quantile(double quantile) const;

 private:
  size_t window_;
  size_t minimum_;
  std::vector<absl::Duration> newest_;
};

// Clamps `value` to [low, high]; `high` wins when they cross.
absl::Duration ClampDuration(absl::Duration value, absl::Duration low,
                             absl::Duration high);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_LEARNED_H_
