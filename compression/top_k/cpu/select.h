// compression/top_k/cpu/select.h
//
// Picks values of a slice by magnitude. Magnitudes are compared as bit patterns
// without the sign, whose order is that of the magnitudes. So no mode of a
// processor and no vector length changes what is picked.
#ifndef SKERRY_COMPRESSION_TOP_K_CPU_SELECT_H_
#define SKERRY_COMPRESSION_TOP_K_CPU_SELECT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

inline constexpr uint32_t kInfinityBits = 0x7f800000;

inline uint32_t MagnitudeBits(float value) {
  return std::bit_cast<uint32_t>(value) & 0x7fffffffu;
}

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

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TOP_K_CPU_SELECT_H_
