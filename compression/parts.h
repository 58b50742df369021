// compression/parts.h
//
// Cuts slices into parts that threads work on at the same time. A codec's
// output does not depend on where the cuts are.
#ifndef SKERRY_COMPRESSION_PARTS_H_
#define SKERRY_COMPRESSION_PARTS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/executor.h"

namespace skerry::compression {

// Values of a part: whole blocks and chunks of every codec, and a fraction of
// a second-level cache.
inline constexpr size_t kPartElements = size_t{1} << 16;

// Calls part(begin, end) for parts that make up [0, elements). All but the last
// end at multiples of kPartElements. If only one thread runs, it calls once for
// everything. Returns true if all calls did.
template <typename Part>
bool EveryPart(size_t elements, ParallelExecutor& executor, const Part& part) {
  if (elements <= kPartElements || executor.thread_count() == 1) {
    return part(size_t{0}, elements);
  }
  std::atomic<bool> good{true};
  executor.ForEach(
      (elements + kPartElements - 1) / kPartElements, [&](size_t index) {
        const size_t begin = index * kPartElements;
        const size_t end = std::min(begin + kPartElements, elements);
        if (!part(begin, end)) {
          good.store(false, std::memory_order_relaxed);
        }
      });
  return good.load(std::memory_order_relaxed);
}

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_PARTS_H_
