// compression/top_k/cpu/testing/sorted_top_k.h
//
// Selects the largest magnitudes with a stable sort, as the reference for the
// fast selections.
#ifndef SKERRY_COMPRESSION_TOP_K_CPU_TESTING_SORTED_TOP_K_H_
#define SKERRY_COMPRESSION_TOP_K_CPU_TESTING_SORTED_TOP_K_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace skerry::compression::cpu {

// Few distinct magnitudes, so that ties are everywhere.
inline std::vector<float> TiedValues(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Below(7)) - 3.0f;
  }
  return values;
}

// Places of the k largest magnitudes by a stable sort: of equal ones the first.
inline std::vector<uint64_t> SortedTopK(const std::vector<float>& values,
                                        size_t k) {
  std::vector<uint64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
    return std::abs(values[a]) > std::abs(values[b]);
  });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TOP_K_CPU_TESTING_SORTED_TOP_K_H_
