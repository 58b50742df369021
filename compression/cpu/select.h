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
#include <vector>

namespace skerry::compression::cpu {

inline uint32_t MagnitudeBits(float value) {
  return std::bit_cast<uint32_t>(value) & 0x7fffffffu;
}

bool AllFinite(std::span<const float> values);

// How many magnitudes are at least `bits`. Requires: bits < 2^31.
size_t CountAtLeast(std::span<const float> values, uint32_t bits);

// The k-th largest magnitude, equal ones counted apart. Requires: 1 <= k <=
// values.size().
uint32_t KthLargestMagnitude(std::span<const float> values, size_t k);

// Appends, in ascending order, `offset` plus the index of every magnitude above
// `bits` and of the first `ties` equal to it. Requires: bits < 2^31.
void CollectLargest(std::span<const float> values, uint32_t bits, size_t ties,
                    uint64_t offset, std::vector<uint64_t>& indices);

// As CollectLargest, of exactly k values: of equal magnitudes the first ones.
// Requires: k <= values.size().
void CollectTopK(std::span<const float> values, size_t k, uint64_t offset,
                 std::vector<uint64_t>& indices);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_SELECT_H_
