// compression/dense/cpu/stores.h
//
// Decides how results get to memory. An ordinary store first reads the line
// that it writes into a cache. A store past the caches does not, which for a
// cast saves a quarter to two fifths of the traffic. But the next reader or
// writer of the result then waits for memory.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_STORES_H_
#define SKERRY_COMPRESSION_DENSE_CPU_STORES_H_

#include <cstddef>

namespace skerry::compression::cpu {

enum class Stores { kCached, kPastCaches };

// For codes of so many bytes, which are made of several times as many: longer
// ones do not stay in most caches beside these.
inline constexpr size_t kCachedCodeBytesMax = size_t{15} << 20;

constexpr Stores StoresForCodes(size_t bytes) {
  return bytes > kCachedCodeBytesMax ? Stores::kPastCaches : Stores::kCached;
}

// The most bytes of decoded values, whose codes are smaller, that are stored
// ordinarily. About as much stays in most last-level caches beside other data.
inline constexpr size_t kCachedValueBytesMax = size_t{28} << 20;

constexpr Stores StoresForValues(size_t bytes) {
  return bytes > kCachedValueBytesMax ? Stores::kPastCaches : Stores::kCached;
}

// For part `index` of values of so many bytes in parts of one size: of longer
// ones, kCachedValueBytesMax go through the caches, spread evenly.
constexpr Stores StoresForPart(size_t bytes, size_t index) {
  if (StoresForValues(bytes) == Stores::kCached) return Stores::kCached;
  return index * kCachedValueBytesMax % bytes < kCachedValueBytesMax
             ? Stores::kCached
             : Stores::kPastCaches;
}

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_STORES_H_
