// compression/threshold/cpu/tail_sums.h
//
// Sums the magnitudes of a slice that exceed a threshold, in an order that no
// vector length changes: in runs of 16 values, each with a sum of its own.
#ifndef SKERRY_COMPRESSION_THRESHOLD_CPU_TAIL_SUMS_H_
#define SKERRY_COMPRESSION_THRESHOLD_CPU_TAIL_SUMS_H_

#include <limits>
#include <span>

namespace skerry::compression::cpu {

struct TailSums {
  double count = 0.0;
  double sum = 0.0;      // of what exceeds the threshold
  double squares = 0.0;  // of the same
  double smallest = std::numeric_limits<double>::infinity();  // magnitude
};

// Requires: finite values.
TailSums SumsAbove(std::span<const float> values, double threshold);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_THRESHOLD_CPU_TAIL_SUMS_H_
