#include "optimizer/inner/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace skerry::optimizer {
namespace {

// The share of (peak - floor) that is left; x in [0, 1].
double Cosine(double x) { return 0.5 * (1 + std::cos(std::numbers::pi * x)); }

// As a share of peak, after the warm-up and before the end.
double RatioAt(const ScheduleOptions& options, double done, double total) {
  const auto warmup = static_cast<double>(options.warmup_samples);
  const double x = (done - warmup) / (total - warmup);
  const double floor = options.min_ratio;
  switch (options.curve) {
    case Curve::kCosine:
      return floor + (1 - floor) * Cosine(x);
    case Curve::kLinear:
      return floor + (1 - floor) * (1 - x);
    case Curve::kWsd: {
      // The decay gives way to a warm-up that reaches into it.
      const double decay =
          std::min(options.decay_ratio * total, total - warmup);
      const double left = decay > 0 ? (total - done) / decay : 1;
      return floor + (1 - floor) * std::min(1.0, left);
    }
    case Curve::kInverseSqrt:
      return std::clamp(std::sqrt(std::max(warmup, 1.0) / std::max(done, 1.0)),
                        floor, 1.0);
    case Curve::kConstant:
      return 1;
  }
  return 1;
}

}  // namespace

absl::Status ValidateScheduleOptions(const ScheduleOptions& options) {
  if (!(options.peak >= 0 && std::isfinite(options.peak))) {
    return absl::InvalidArgumentError("learning rate: peak must be 0 or more");
  }
  if (!(options.min_ratio >= 0 && options.min_ratio <= 1)) {
    return absl::InvalidArgumentError(
        "learning rate: min_ratio must be 0 to 1");
  }
  if (!(options.decay_ratio >= 0 && options.decay_ratio <= 1)) {
    return absl::InvalidArgumentError(
        "learning rate: decay_ratio must be 0 to 1");
  }
  return absl::OkStatus();
}

float LearningRate(const ScheduleOptions& options, uint64_t samples_done,
                   uint64_t samples_total) {
  const double peak = options.peak;
  const auto done = static_cast<double>(samples_done);
  if (samples_done < options.warmup_samples) {
    return static_cast<float>(peak * done /
                              static_cast<double>(options.warmup_samples));
  }
  const bool ends =
      options.curve != Curve::kConstant && options.curve != Curve::kInverseSqrt;
  if (ends && samples_done >= samples_total) {
    return static_cast<float>(peak * options.min_ratio);
  }
  return static_cast<float>(
      peak * RatioAt(options, done, static_cast<double>(samples_total)));
}

}  // namespace skerry::optimizer
