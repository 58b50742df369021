// worker/core/sums.h
//
// Sums over the values of a span, in float64. They are for audits and reports.
#ifndef SKERRY_WORKER_CORE_SUMS_H_
#define SKERRY_WORKER_CORE_SUMS_H_

#include <span>

namespace skerry::worker {

struct Sums {
  double sum = 0;
  double squared = 0;  // of the squares

  Sums& operator+=(const Sums& other) {
    sum += other.sum;
    squared += other.squared;
    return *this;
  }
};

// The same values give the same bits on every machine. Every eighth value is
// added to the same partial sum, so that the processor need not wait for one
// addition before the next.
Sums SumsOf(std::span<const float> values);

// The sums of from - to, subtracted in float64. Requires: one size.
Sums SumsOfDifference(std::span<const float> from, std::span<const float> to);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_SUMS_H_
