#include "coordinator/core/state/learned.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace skerry::coordinator {

void LearnedDuration::Observe(absl::Duration duration) {
  if (newest_.size() == window_) newest_.erase(newest_.begin());
  newest_.push_back(std::max(duration, absl::ZeroDuration()));
}

std::optional<absl::Duration> LearnedDuration::Quantile(double quantile) const {
  if (newest_.empty() || newest_.size() < minimum_) return std::nullopt;
  std::vector<absl::Duration> sorted = newest_;
  const double rank = std::ceil(quantile * static_cast<double>(sorted.size()));
  const size_t index =
      std::min(sorted.size(), std::max<size_t>(1, static_cast<size_t>(rank))) -
      1;
  std::nth_element(sorted.begin(), sorted.begin() + index, sorted.end());
  return sorted[index];
}

absl::Duration ClampDuration(absl::Duration value, absl::Duration low,
                             absl::Duration high) {
  return std::min(std::max(value, low), high);
}

}  // namespace skerry::coordinator
