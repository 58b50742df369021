#include "compression/threshold/threshold.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "compression/parts.h"
#include "compression/threshold/cpu/tail_sums.h"
#include "compression/threshold/tail_quantiles.h"
#include "compression/top_k/cpu/finite.h"
#include "compression/top_k/cpu/select.h"

namespace skerry::compression {
namespace {

constexpr double kFirstDensity = 0.25;
constexpr double kCloseLow = 0.9;
constexpr double kCloseHigh = 1.1;
constexpr double kCountMost = 2.0;  // or half
constexpr int kCorrectionsMax = 2;
constexpr double kTailExponent = 2.0;
constexpr double kTailExponentMin = 0.1;
constexpr double kTailExponentMax = 100.0;

constexpr double kSampledLow = 0.8;
constexpr double kSampledHigh = 1.3;
constexpr int kSampledStepsMax = 10;
constexpr size_t kSampleStride = 100;
constexpr size_t kSampleMin = 1000;

// Shorter slices get no guess.
constexpr size_t kGuessedMin = size_t{1} << 18;
// A sample has at most one in kSampledShare of the values, and at most
// kSampledMax.
constexpr size_t kSampledShare = 4;
constexpr size_t kSampledMax = size_t{1} << 19;
// Within its bounds, a sample is so large that this many values are above the
// threshold. Their number then tells the count to a few percent.
constexpr size_t kSampledAbove = size_t{1} << 12;
constexpr size_t kSampledLeast = size_t{1} << 16;
constexpr size_t kRun = 64;

float Finite(double wanted) {
  return static_cast<float>(std::clamp(
      wanted, static_cast<double>(FLT_TRUE_MIN), static_cast<double>(FLT_MAX)));
}

Threshold Counted(std::span<const float> values, double wanted) {
  const float value = Finite(wanted);
  return {value, cpu::CountAtLeast(values, cpu::MagnitudeBits(value))};
}

// Calls run(part of values, its index) for parts of a fixed size, wherever the
// executor's threads cut, so that what is summed over parts is always the same.
template <typename Run>
void ForEachFixedPart(std::span<const float> values, Workspace& workspace,
                      const Run& run) {
  EveryPart(values.size(), *workspace.executor, [&](size_t begin, size_t end) {
    for (; begin < end; begin += kPartElements) {
      run(values.subspan(begin, std::min(kPartElements, end - begin)),
          begin / kPartElements);
    }
    return true;
  });
}

size_t FixedParts(std::span<const float> values) {
  return (values.size() + kPartElements - 1) / kPartElements;
}

// Does the same on the executor.
Threshold Counted(std::span<const float> values, double wanted,
                  Workspace& workspace) {
  const float value = Finite(wanted);
  workspace.counts.assign(FixedParts(values), 0);
  ForEachFixedPart(values, workspace,
                   [&](std::span<const float> part, size_t index) {
                     workspace.counts[index] =
                         cpu::CountAtLeast(part, cpu::MagnitudeBits(value));
                   });
  size_t count = 0;
  for (const uint64_t found : workspace.counts) count += found;
  return {value, count};
}

// Statistics of the magnitudes above an origin. The mean is measured from
// `smallest`.
struct Moments {
  double count = 0.0;
  double smallest = 0.0;
  double mean = 0.0;
  double variance = 0.0;
  double log_gap = 0.0;  // log of the mean less mean of the logs, with `logs`
};

double SumOfLogs(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) {
    if (value != 0.0f) sum += std::log(std::fabs(static_cast<double>(value)));
  }
  return sum;
}

// `from_zero` keeps the origin 0 of the first stage as `smallest`.
Moments MomentsAbove(std::span<const float> values, double origin,
                     bool from_zero, bool logs, Workspace& workspace) {
  constexpr size_t kSums = 4;
  workspace.sums.assign(kSums * FixedParts(values), 0.0);
  ForEachFixedPart(values, workspace,
                   [&](std::span<const float> part, size_t index) {
                     const cpu::TailSums sums = cpu::SumsAbove(part, origin);
                     double* to = workspace.sums.data() + kSums * index;
                     to[0] = sums.count;
                     to[1] = sums.sum;
                     to[2] = sums.squares;
                     to[3] = sums.smallest;
                   });
  double count = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  double smallest = HUGE_VAL;
  for (size_t at = 0; at < workspace.sums.size(); at += kSums) {
    count += workspace.sums[at];
    sum += workspace.sums[at + 1];
    squares += workspace.sums[at + 2];
    smallest = std::min(smallest, workspace.sums[at + 3]);
  }
  Moments moments;
  if (count == 0.0) return moments;
  const double mean = sum / count;
  moments.count = count;
  moments.smallest = from_zero ? 0.0 : smallest;
  moments.mean = from_zero ? mean : mean - (smallest - origin);
  moments.variance = std::max(squares / count - mean * mean, 0.0);
  if (logs) moments.log_gap = std::log(mean) - SumOfLogs(values) / count;
  return moments;
}

double Tail(SidcoFit fit, bool first, const Moments& moments, double density) {
  if (fit == SidcoFit::kExponential) {
    return ExponentialTail(moments.mean, density);
  }
  if (fit == SidcoFit::kGammaThenPareto && first) {
    return GammaTail(moments.mean, moments.log_gap, density);
  }
  return GeneralisedParetoTail(moments.mean, moments.variance, density);
}

// What the last stage found.
struct Fitted {
  double threshold = 0.0;
  double origin = 0.0;  // of the last stage, 0 where it is the first
  double above = 0.0;   // values above the origin

  // Returns the exponent of the power law by which `above` values exceed the
  // origin and `count` reach the threshold, or kTailExponent where these give
  // none.
  double Exponent(size_t count) const {
    const double reach = std::max(static_cast<double>(count), 1.0);
    if (!(origin > 0.0 && threshold > origin && above > reach)) {
      return kTailExponent;
    }
    return std::clamp(std::log(above / reach) / std::log(threshold / origin),
                      kTailExponentMin, kTailExponentMax);
  }
};

// Zeros are no part of the fitted distribution; `density` is that of the rest.
Fitted SidcoStages(std::span<const float> values, size_t target,
                   const SidcoOptions& options, Workspace& workspace) {
  const bool logs = options.fit == SidcoFit::kGammaThenPareto;
  const Moments first =
      MomentsAbove(values, 0.0, /*from_zero=*/true, logs, workspace);
  const double density =
      std::min(static_cast<double>(target) / std::max(first.count, 1.0), 1.0);
  if (!(first.mean > 0.0) || density == 1.0) return {};
  const int stages = density >= kFirstDensity ? 1 : options.stages;
  if (stages == 1) return {Tail(options.fit, true, first, density)};
  Fitted fitted = {Tail(options.fit, true, first, kFirstDensity)};
  const double rate = std::pow(density / kFirstDensity, 1.0 / (stages - 1));
  for (int stage = 1; stage < stages; ++stage) {
    const Moments tail =
        MomentsAbove(values, fitted.threshold, false, false, workspace);
    // Nothing is left to fit above, or all of it is one value.
    if (tail.count == 0.0) break;
    fitted = {tail.smallest, tail.smallest, tail.count};
    if (!(tail.mean > 0.0)) break;
    fitted.threshold += Tail(options.fit, false, tail, rate);
  }
  return fitted;
}

// How far a count is from the target, as the logarithm of their ratio; 0 where
// no more values differ from zero.
double Miss(const Threshold& found, double target) {
  const auto count = static_cast<double>(found.count);
  if (found.value <= FLT_TRUE_MIN && count < target) return 0.0;
  return std::fabs(std::log(count / target));  // infinite where none does
}

}  // namespace

Threshold ExactThreshold(std::span<const float> values, size_t target) {
  SKERRY_CHECK(target >= 1 && target <= values.size());
  return Counted(
      values, std::bit_cast<float>(cpu::KthLargestMagnitude(values, target)));
}

Threshold SampledThreshold(std::span<const float> values, size_t target,
                           uint64_t seed, Workspace& workspace) {
  SKERRY_CHECK(target >= 1 && target <= values.size());
  if (values.size() < kSampleMin) return ExactThreshold(values, target);
  const size_t stride = std::min(kSampleStride, values.size() / kSampleMin);
  std::vector<float>& sample = workspace.sample;
  sample.clear();
  sample.reserve(values.size() / stride + 1);
  for (size_t i = Random(seed).Below(stride); i < values.size(); i += stride) {
    sample.push_back(values[i]);
  }
  const double density =
      static_cast<double>(target) / static_cast<double>(values.size());
  const auto kept = static_cast<size_t>(
      std::ceil(density * static_cast<double>(sample.size())));
  double wanted = ExactThreshold(sample, std::min(kept, sample.size())).value;
  Threshold found = Counted(values, wanted, workspace);
  const auto goal = static_cast<double>(target);
  for (int step = 0; step < kSampledStepsMax; ++step) {
    const auto count = static_cast<double>(found.count);
    if (count < kSampledLow * goal) {
      wanted *= kSampledLow;
    } else if (count > kSampledHigh * goal) {
      wanted *= kSampledHigh;
    } else {
      return found;
    }
    found = Counted(values, wanted, workspace);
  }
  if (static_cast<double>(found.count) > kSampledHigh * goal) {
    return ExactThreshold(values, target);
  }
  return found;
}

Threshold SidcoThreshold(std::span<const float> values, size_t target,
                         const SidcoOptions& options, Workspace& workspace) {
  SKERRY_CHECK(target >= 1 && target <= values.size());
  SKERRY_CHECK(options.stages >= 1);
  const Fitted fitted = SidcoStages(values, target, options, workspace);
  Threshold found = Counted(values, fitted.threshold, workspace);
  if (!options.safeguard) return found;
  const auto goal = static_cast<double>(target);
  double exponent = fitted.Exponent(found.count);
  Threshold nearest = found;
  for (int n = 0; n < kCorrectionsMax && Miss(found, goal) > 0.0 &&
                  !IsClose(found.count, target);
       ++n) {
    const Threshold before = found;
    found =
        Counted(values, Moved({before.value, exponent}, before.count, target),
                workspace);
    if (Miss(found, goal) < Miss(nearest, goal)) nearest = found;
    const double slope =
        std::log(std::max<double>(before.count, 1) /
                 std::max<double>(found.count, 1)) /
        std::log(static_cast<double>(found.value) / before.value);
    if (slope > kTailExponentMin && slope < kTailExponentMax) exponent = slope;
  }
  return Miss(nearest, goal) <= std::log(kCountMost)
             ? nearest
             : ExactThreshold(values, target);
}

bool IsClose(size_t count, size_t target) {
  const auto goal = static_cast<double>(target);
  return static_cast<double>(count) >= kCloseLow * goal &&
         static_cast<double>(count) <= kCloseHigh * goal;
}

float Moved(const Guess& guess, size_t count, size_t target) {
  const double ratio =
      std::max(static_cast<double>(count), 1.0) / static_cast<double>(target);
  return Finite(guess.value * std::pow(ratio, 1.0 / guess.exponent));
}

std::optional<Guess> SidcoGuess(std::span<const float> values, size_t target,
                                const SidcoOptions& options,
                                Workspace& workspace) {
  SKERRY_CHECK(target >= 1 && target <= values.size());
  SKERRY_CHECK(options.stages >= 1);
  if (values.size() < kGuessedMin) return std::nullopt;
  const size_t wanted = std::clamp(kSampledAbove * (values.size() / target),
                                   kSampledLeast, kSampledMax);
  const size_t runs = std::min(values.size() / kSampledShare, wanted) / kRun;
  const size_t stride = values.size() / runs;
  std::vector<float>& sample = workspace.values;
  sample.resize(runs * kRun);
  EveryPart(sample.size(), *workspace.executor, [&](size_t begin, size_t end) {
    for (size_t run = begin / kRun; run < end / kRun; ++run) {
      std::copy_n(values.begin() + static_cast<ptrdiff_t>(run * stride), kRun,
                  sample.begin() + static_cast<ptrdiff_t>(run * kRun));
    }
    return true;
  });
  if (!cpu::AllFinite(sample)) return std::nullopt;
  const double share =
      static_cast<double>(sample.size()) / static_cast<double>(values.size());
  const auto kept =
      static_cast<size_t>(std::ceil(static_cast<double>(target) * share));
  const Fitted fitted = SidcoStages(sample, kept, options, workspace);
  const Threshold found = Counted(sample, fitted.threshold, workspace);
  const Guess guess = {found.value, fitted.Exponent(found.count)};
  return Guess{Moved(guess, found.count, kept), guess.exponent};
}

}  // namespace skerry::compression
