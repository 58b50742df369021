#include "worker/core/sums.h"

#include <cstddef>

#include "base/check.h"

namespace skerry::worker {
namespace {

constexpr size_t kLanes = 8;

// Adds up value(i) for all i below `count`.
template <typename Value>
Sums Add(size_t count, Value value) {
  double sum[kLanes] = {};
  double squared[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) {
      const double one = value(i + k);
      sum[k] += one;
      squared[k] += one * one;
    }
  }
  for (size_t k = 0; i + k < count; ++k) {
    const double one = value(i + k);
    sum[k] += one;
    squared[k] += one * one;
  }
  Sums sums;
  for (size_t k = 0; k < kLanes; ++k) {
    sums.sum += sum[k];
    sums.squared += squared[k];
  }
  return sums;
}

}  // namespace

Sums SumsOf(std::span<const float> values) {
  const float* in = values.data();
  return Add(values.size(),
             [in](size_t i) { return static_cast<double>(in[i]); });
}

Sums SumsOfDifference(std::span<const float> from, std::span<const float> to) {
  SKERRY_CHECK(from.size() == to.size());
  const float* a = from.data();
  const float* b = to.data();
  return Add(from.size(),
             [a, b](size_t i) { return static_cast<double>(a[i]) - b[i]; });
}

}  // namespace skerry::worker
