// compression/threshold/threshold.h
//
// Finds a magnitude that about `target` values of a slice reach, more cheaply
// than by sorting. The values that reach it are sent, and the others stay owed.
//
// The order of sums of moments depends only on the number of values. But the
// logarithm is the C library's, so two machines may find thresholds that differ
// in their last bits.
#ifndef SKERRY_COMPRESSION_THRESHOLD_THRESHOLD_H_
#define SKERRY_COMPRESSION_THRESHOLD_THRESHOLD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "compression/workspace.h"

namespace skerry::compression {

struct Threshold {
  float value = 0.0f;  // send magnitudes of at least this, and above 0
  size_t count = 0;    // how many there are
};

// The largest threshold that `target` values reach; equal ones may make the
// count larger. All of these require finite values and 1 <= target <=
// values.size().
Threshold ExactThreshold(std::span<const float> values, size_t target);

// DGC (arXiv 1712.01887): the quantile of a hundredth of the values, at even
// strides from a start drawn from `seed`; while the count is outside [0.8, 1.3]
// of the target, at most ten times, a step of the same factors; then, if it is
// still above, the exact one. The executor of `workspace` changes nothing that
// is found.
Threshold SampledThreshold(std::span<const float> values, size_t target,
                           uint64_t seed, Workspace& workspace);
inline Threshold SampledThreshold(std::span<const float> values, size_t target,
                                  uint64_t seed) {
  Workspace workspace;
  return SampledThreshold(values, target, seed, workspace);
}

// SIDCo (arXiv 2101.10761) fits a distribution, reads the quantile, and fits
// again to the values that exceed it.
enum class SidcoFit {
  kExponential,      // SIDCo-E
  kPareto,           // SIDCo-P: generalised Pareto at every stage
  kGammaThenPareto,  // SIDCo-GP
};

struct SidcoOptions {
  SidcoFit fit = SidcoFit::kPareto;
  int stages = 3;  // at least 1; one suffices from density 1/4 on
  // Correct a count outside [0.9, 1.1] of the target along a power law, fitted
  // to the last stage and then to the last two counts, twice at most; take the
  // nearest; and where that is outside [0.5, 2], the exact threshold. Published
  // SIDCo has none of this and adapts its stages instead, which sticks for
  // heavy tails.
  bool safeguard = true;
};

// The executor of `workspace` changes nothing that is found.
Threshold SidcoThreshold(std::span<const float> values, size_t target,
                         const SidcoOptions& options, Workspace& workspace);
inline Threshold SidcoThreshold(std::span<const float> values, size_t target,
                                const SidcoOptions& options) {
  Workspace workspace;
  return SidcoThreshold(values, target, options, workspace);
}

// A threshold. Near it, the number of values that reach it falls like
// value^-exponent.
struct Guess {
  float value = 0.0f;
  double exponent = 0.0;  // above 0
};

// Whether a count is as near to the target as its safeguard wants it.
bool IsClose(size_t count, size_t target);

// The threshold that `target` values reach where `count` reach the guess.
float Moved(const Guess& guess, size_t count, size_t target);

// Fits a sample in stages, and moves the threshold to where the target's share
// of the sample reaches it. The sample is runs of 64 values at even strides, so
// that no value is far from a run. It has about 2^12 values above the
// threshold, but at least 2^16 values in all, and at most 2^19 or a quarter of
// the slice. The values may be anything. Returns nothing when a sampled one is
// not finite, or when the slice is shorter than 2^18, where a sample saves
// little. Whoever selects by the guess sees the count, which is off by about 1
// / sqrt(sampled values above the threshold).
std::optional<Guess> SidcoGuess(std::span<const float> values, size_t target,
                                const SidcoOptions& options,
                                Workspace& workspace);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_THRESHOLD_THRESHOLD_H_
