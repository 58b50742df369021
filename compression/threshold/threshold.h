// compression/threshold/threshold.h
//
// A magnitude that about `target` values of a slice reach, cheaper than sorting
// them. What reaches it is sent; the rest stays owed.
//
// Moments are sums in an order that the values' number alone decides, but the
// logarithm is the C library's: two machines may find thresholds that differ in
// their last bits.
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

// SIDCo (arXiv 2101.10761): fit, read the quantile, fit again to what exceeds
// it.
enum class SidcoFit {
  kExponential,      // SIDCo-E
  kPareto,           // SIDCo-P: generalised Pareto at every stage
  kGammaThenPareto,  // SIDCo-GP
};

struct SidcoOptions {
  SidcoFit fit = SidcoFit::kPareto;
  int stages = 3;  // at least 1; one suffices from density 1/4 on
  // Correct a count outside [0.5, 2] of the target, twice along a locally
  // fitted power law and then by the exact threshold. Published SIDCo has none
  // of this and adapts its stages instead, which sticks for heavy tails.
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

// What the stages find in a sample: runs of 64 values at even strides, so that
// none is far from one. Of 2^12 values above the threshold, but of 2^16 values
// at least and 2^19 at most. The values may be anything; nothing when a sampled
// one is not finite, or the slice is shorter than 2^18, where a sample saves
// little. No safeguard: whoever selects by it sees the count.
std::optional<float> SidcoGuess(std::span<const float> values, size_t target,
                                const SidcoOptions& options,
                                Workspace& workspace);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_THRESHOLD_THRESHOLD_H_
