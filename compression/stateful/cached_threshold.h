// compression/stateful/cached_threshold.h
//
// DCT, dynamic communication thresholding (arXiv 2010.08899): thresholds drift
// slowly, so one that was found exactly serves for many steps. An estimator for
// threshold_top_k; with ErrorFeedback around that codec it is DCT for data
// parallelism.
#ifndef SKERRY_COMPRESSION_STATEFUL_CACHED_THRESHOLD_H_
#define SKERRY_COMPRESSION_STATEFUL_CACHED_THRESHOLD_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/threshold/threshold.h"

namespace skerry::compression {

class CachedThreshold {
 public:
  struct Options {
    int refresh_every = 1000;  // steps that one threshold serves; at least 1
    // A count outside of these multiples of the target refreshes at once.
    double count_low = 0.5;
    double count_high = 2.0;
  };

  explicit CachedThreshold(const Options& options);

  // One step's threshold. Requires: finite values, 1 <= target <=
  // values.size(). One thread at a time.
  Threshold Estimate(std::span<const float> values, size_t target);

  uint64_t refreshes() const { return refreshes_; }

 private:
  const Options options_;
  float value_ = 0.0f;  // 0: none yet
  int age_ = 0;
  uint64_t refreshes_ = 0;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_STATEFUL_CACHED_THRESHOLD_H_
