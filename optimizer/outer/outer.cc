#include "optimizer/outer/outer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace skerry::optimizer {
namespace {

// One element's fold. A template, so that the loop has no branch and the
// compiler may vectorise it; elements are independent, hence the same bits at
// any width.
template <bool kMomentum, bool kNesterov, bool kClip>
void Fold(const OuterScalars& scalars, float b, float clip,
          std::span<const float> mean_delta, std::span<float> anchor,
          std::span<float> momentum) {
  const float a = scalars.learning_rate;
  const float penalty = scalars.penalty;
  const size_t count = anchor.size();
  const float* __restrict in = mean_delta.data();
  float* __restrict x = anchor.data();
  float* __restrict v = momentum.data();
  for (size_t i = 0; i < count; ++i) {
    const float d = in[i] / penalty;
    float m = kMomentum ? b * v[i] + d : d;
    if constexpr (kClip) {
      m = m > clip ? clip : m;
      m = m < -clip ? -clip : m;
    }
    if constexpr (kMomentum) v[i] = m;
    const float step = kNesterov ? d + b * m : m;
    x[i] = x[i] - a * step;
  }
}

template <bool kMomentum, bool kNesterov>
void FoldMaybeClipped(const OuterOptions& options, const OuterScalars& scalars,
                      std::span<const float> mean_delta,
                      std::span<float> anchor, std::span<float> momentum) {
  const float b = static_cast<float>(options.momentum);
  if (options.clip.has_value()) {
    Fold<kMomentum, kNesterov, true>(scalars, b,
                                     static_cast<float>(*options.clip),
                                     mean_delta, anchor, momentum);
  } else {
    Fold<kMomentum, kNesterov, false>(scalars, b, 0.0f, mean_delta, anchor,
                                      momentum);
  }
}

}  // namespace

int DelayAt(const OuterOptions& options, uint64_t round,
            uint64_t rounds_total) {
  if (options.delay_rounds == 0) return 0;
  const double undelayed = std::ceil(options.undelayed_rounds_fraction *
                                     static_cast<double>(rounds_total));
  return static_cast<double>(round) < undelayed ? 0 : options.delay_rounds;
}

OuterScalars ScalarsAt(const OuterOptions& options, uint64_t round,
                       uint64_t rounds_total, double gap) {
  if (options.delay_rounds > 0 && DelayAt(options, round, rounds_total) == 0) {
    return {
        .learning_rate = static_cast<float>(options.undelayed_learning_rate),
        .penalty = 1.0f};
  }
  double penalty = 1.0;
  if (options.penalty_rule == StalenessPenalty::kConstant) {
    penalty = options.penalty;
  } else if (options.penalty_rule == StalenessPenalty::kDistance) {
    penalty = std::max(gap, 1.0);
  }
  return {.learning_rate = static_cast<float>(options.learning_rate),
          .penalty = static_cast<float>(penalty)};
}

double StalenessGap(double anchor_moved_squared, double first_step_squared,
                    int tau) {
  SKERRY_CHECK(tau > 0);
  // Also when a norm is NaN: an unknown gap scales nothing down.
  if (!(first_step_squared > 0.0) || !(anchor_moved_squared > 0.0)) return 1.0;
  return 1.0 + std::sqrt(anchor_moved_squared / first_step_squared) / tau;
}

bool HasMomentum(const OuterOptions& options) {
  return options.momentum != 0.0;
}

bool NeedsRoundStart(const OuterOptions& options) {
  return options.merge != MergeRule::kReplace;
}

OuterStateBytes OuterStateBytesOf(const OuterOptions& options) {
  return {.anchor = sizeof(float),
          .momentum = HasMomentum(options) ? sizeof(float) : 0.0,
          .round_start = NeedsRoundStart(options) ? sizeof(float) : 0.0};
}

void OuterStep(const OuterOptions& options, const OuterScalars& scalars,
               std::span<const float> mean_delta, std::span<float> anchor,
               std::span<float> momentum) {
  SKERRY_CHECK(mean_delta.size() == anchor.size());
  if (!HasMomentum(options)) {
    FoldMaybeClipped<false, false>(options, scalars, mean_delta, anchor, {});
    return;
  }
  SKERRY_CHECK(momentum.size() == anchor.size());
  if (options.nesterov) {
    FoldMaybeClipped<true, true>(options, scalars, mean_delta, anchor,
                                 momentum);
  } else {
    FoldMaybeClipped<true, false>(options, scalars, mean_delta, anchor,
                                  momentum);
  }
}

double OwnShare(double mean_squared, double total_weight,
                double weighted_squared) {
  const double share = total_weight * mean_squared / weighted_squared;
  // Also when a norm is NaN.
  if (!(share > 0.0) || !std::isfinite(share)) return 1.0;
  return std::clamp(share, kOwnShareMin, 1.0);
}

void MergeLive(const OuterOptions& options, int delay, float share,
               std::span<const float> anchor,
               std::span<const float> round_start, std::span<float> live) {
  SKERRY_CHECK(anchor.size() == live.size());
  if (options.merge == MergeRule::kReplace || delay == 0) {
    std::copy(anchor.begin(), anchor.end(), live.begin());
    return;
  }
  SKERRY_CHECK(round_start.size() == live.size());
  const size_t count = live.size();
  const float* __restrict x = anchor.data();
  const float* __restrict start = round_start.data();
  float* __restrict y = live.data();
  if (options.merge == MergeRule::kOwnShare) {
    for (size_t i = 0; i < count; ++i) {
      y[i] = x[i] + share * (y[i] - start[i]);
    }
    return;
  }
  const float kept = static_cast<float>(*options.mix);
  const float taken = 1.0f - kept;
  for (size_t i = 0; i < count; ++i) y[i] = kept * y[i] + taken * x[i];
}

void MoveLive(const OuterOptions& options, bool back,
              std::span<const float> before, std::span<const float> anchor,
              std::span<float> base, std::span<float> live) {
  SKERRY_CHECK(anchor.size() == live.size() && base.size() == live.size());
  SKERRY_CHECK(before.size() == live.size());
  const size_t count = live.size();
  const float* __restrict was = before.data();
  const float* __restrict x = anchor.data();
  float* __restrict b = base.data();
  float* __restrict y = live.data();
  const bool mixes = options.merge == MergeRule::kConvexMix;
  const float taken = mixes ? 1.0f - static_cast<float>(*options.mix) : 1.0f;
  for (size_t i = 0; i < count; ++i) {
    const float moved = back ? x[i] : b[i] + taken * (x[i] - was[i]);
    y[i] = moved + (y[i] - b[i]);
    b[i] = moved;
  }
}

}  // namespace skerry::optimizer
