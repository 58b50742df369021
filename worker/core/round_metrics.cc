#include "worker/core/round_metrics.h"

#include <cmath>

namespace skerry::worker {

void RoundMetrics::Add(const protocol::Metrics& means, uint64_t samples) {
  for (const auto& [name, mean] : means) {
    if (sums_.size() == protocol::kMetricsMax && !sums_.contains(name)) {
      continue;
    }
    Sum& sum = sums_[name];
    sum.value += mean * static_cast<double>(samples);
    sum.samples += static_cast<double>(samples);
  }
}

protocol::Metrics RoundMetrics::Means() const {
  protocol::Metrics means;
  for (const auto& [name, sum] : sums_) {
    // Huge values may have no finite sum.
    const double mean = sum.samples > 0 ? sum.value / sum.samples : 0;
    if (std::isfinite(mean)) means.emplace(name, mean);
  }
  return means;
}

}  // namespace skerry::worker
