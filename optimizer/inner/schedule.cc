#include "optimizer/inner/schedule.h"

#include <cmath>
#include <numbers>

namespace skerry::optimizer {

absl::Status ValidateScheduleOptions(const ScheduleOptions& options) {
  if (!(options.peak >= 0 && std::isfinite(options.peak))) {
    return absl::InvalidArgumentError("learning rate: peak must be 0 or more");
  }
  if (!(options.min_ratio >= 0 && options.min_ratio <= 1)) {
    return absl::InvalidArgumentError(
        "learning rate: min_ratio must be 0 to 1");
  }
  return absl::OkStatus();
}

float LearningRate(const ScheduleOptions& options, uint64_t samples_done,
                   uint64_t samples_total) {
  const double peak = options.peak;
  if (samples_done < options.warmup_samples) {
    return static_cast<float>(peak * static_cast<double>(samples_done) /
                              static_cast<double>(options.warmup_samples));
  }
  if (samples_done >= samples_total) {
    return static_cast<float>(peak * options.min_ratio);
  }
  const double progress =
      static_cast<double>(samples_done - options.warmup_samples) /
      static_cast<double>(samples_total - options.warmup_samples);
  const double fall = 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return static_cast<float>(
      peak * (options.min_ratio + (1 - options.min_ratio) * fall));
}

}  // namespace skerry::optimizer
