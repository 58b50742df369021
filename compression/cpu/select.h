// compression/cpu/select.h
//
// Passes over a slice that pick values by magnitude. Magnitudes are compared as
// bit patterns without the sign, whose order is that of the magnitudes, so no
// mode of a processor and no vector length changes what is picked.
#ifndef SKERRY_COMPRESSION_CPU_SELECT_H_
#define SKERRY_COMPRESSION_CPU_SELECT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

inline constexpr uint32_t kInfinityBits = 0x7f800000;

inline uint32_t MagnitudeBits(float value) {
  return std::bit_cast<uint32_t>(value) & 0x7fffffffu;
}

bool AllFinite(std::span<const float> values);

// How many magnitudes are at least `bits`. Requires: bits <= 2^31.
size_t CountAtLeast(std::span<const float> values, uint32_t bits);

// The k-th largest magnitude, equal ones counted apart. A `hint` that is it
// costs two passes, any other up to 66, but few where magnitudes near it are
// spread evenly. Requires: 1 <= k <= values.size().
uint32_t KthLargestMagnitude(std::span<const float> values, size_t k,
                             uint32_t hint = 0);

// A magnitude that the k-th largest reaches and the next does not exceed: the
// k-th largest, or one between the two. Found in fewer passes.
uint32_t DividingMagnitude(std::span<const float> values, size_t k,
                           uint32_t hint = 0);

// Chunks that SelectChunk takes.
inline constexpr size_t kChunkElements = 4096;
// What arrays that it writes have beyond what it finds.
inline constexpr size_t kChunkSlack = 64;

// Writes the places of the k largest magnitudes, of equal ones the first, in
// order, and the values. `guess` is a magnitude that about k reach, which only
// saves time; it becomes a guess for a slice like this one. False when a value
// is not finite. Requires: 1 <= k <= values.size() <= kChunkElements; room for
// values.size() places and k kept values, and for kChunkSlack more of each.
bool SelectChunk(std::span<const float> values, size_t k, uint32_t& guess,
                 uint32_t* places, float* kept);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_SELECT_H_
