// compression/cpu/stores.h
//
// How results get to memory. What a store brings into a cache is read first; a
// store past the caches writes memory at once, which is a quarter to two fifths
// less traffic for a cast, but whoever reads the result next waits for memory.
#ifndef SKERRY_COMPRESSION_CPU_STORES_H_
#define SKERRY_COMPRESSION_CPU_STORES_H_

#include <cstddef>

namespace skerry::compression::cpu {

enum class Stores { kCached, kPastCaches };

// A result of so many bytes does not stay in most caches beside what it is made
// of.
inline constexpr size_t kPastCachesBytesMin = size_t{16} << 20;

// For a result of `bytes`, all parts of it together.
constexpr Stores StoresFor(size_t bytes) {
  return bytes >= kPastCachesBytesMin ? Stores::kPastCaches : Stores::kCached;
}

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_STORES_H_
