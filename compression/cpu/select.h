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

inline constexpr uint32_t kInfinityBits = 0x7f800000;

inline uint32_t MagnitudeBits(float value) {
  return std::bit_cast<uint32_t>(value) & 0x7fffffffu;
}

bool AllFinite(std::span<const float> values);

// How many magnitudes are at least `bits`. Requires: bits <= 2^31.
size_t CountAtLeast(std::span<const float> values, uint32_t bits);

// The k-th largest magnitude, equal ones counted apart. A `hint` that is it
// costs two passes, any other up to 33. Requires: 1 <= k <= values.size().
uint32_t KthLargestMagnitude(std::span<const float> values, size_t k,
                             uint32_t hint = 0);

// A magnitude that the k-th largest reaches and the next does not exceed: the
// k-th largest, or one between the two. Found in fewer passes.
uint32_t DividingMagnitude(std::span<const float> values, size_t k,
                           uint32_t hint = 0);

// What arrays that CollectAtLeast writes have beyond the values it is given.
inline constexpr size_t kCollectSlack = 64;

// Writes `first` plus the index of every magnitude of at least `bits`, in
// order, and these values; returns how many. Requires: bits <= 2^31, and room
// for values.size() + kCollectSlack in both.
size_t CollectAtLeast(std::span<const float> values, uint32_t bits,
                      uint32_t first, uint32_t* places, float* kept);

// Keeps of `count` values those of at least `bits`, in order, and their places;
// returns how many. Requires: bits <= 2^31.
size_t KeepAtLeast(uint32_t bits, size_t count, uint32_t* places, float* kept);

// Writes values of less than `bits`, in order; returns how many. Requires: bits
// <= 2^31, and room for what is written and kCollectSlack.
size_t CopyBelow(std::span<const float> values, uint32_t bits, float* below);

// Appends index and value of every magnitude above `bits` and of the first
// `ties` equal to it, which it counts down. Stops soon after there are more
// than `most`. Requires: fewer than 2^32 values, bits < 2^31.
void AppendLargest(std::span<const float> values, uint32_t bits, size_t& ties,
                   size_t most, std::vector<uint32_t>& places,
                   std::vector<float>& kept);

// Chunks that SelectChunk takes.
inline constexpr size_t kChunkElements = 4096;

// Writes the places of the k largest magnitudes, of equal ones the first, in
// order, and the values. `guess` is a magnitude that about k reach, which only
// saves time; it becomes a guess for a slice like this one. False when a value
// is not finite. Requires: 1 <= k <= values.size() <= kChunkElements.
bool SelectChunk(std::span<const float> values, size_t k, uint32_t& guess,
                 uint32_t* places, float* kept);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_SELECT_H_
