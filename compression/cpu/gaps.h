// compression/cpu/gaps.h
//
// Ascending places as varints of the gaps between them
// (docs/formats/codecs.md): of each place after the first, what lies between it
// and the one before.
#ifndef SKERRY_COMPRESSION_CPU_GAPS_H_
#define SKERRY_COMPRESSION_CPU_GAPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace skerry::compression::cpu {

// Bytes of the gaps of places[1], places[2], ..
size_t GapBytes(std::span<const uint32_t> places);

// Writes them, and nothing behind; returns the end.
std::byte* WriteGaps(std::span<const uint32_t> places, std::byte* out);

// Bytes of one gap, and writing it.
size_t GapBytes(uint64_t gap);
std::byte* WriteGap(uint64_t gap, std::byte* out);

struct GapSums {
  size_t gaps = 0;
  uint64_t places = 0;  // what they span: each gap and the place behind it
};

// Of varints. Nothing when one does not end or is not the shortest, or they
// span more than `most` places. Requires: most < 2^62.
std::optional<GapSums> SumGaps(std::span<const std::byte> gaps, uint64_t most);

// Reads a place for each of `places` from the front of `gaps`, which it
// shortens; `next`, the place after the one before, moves on. False where
// SumGaps finds nothing, or there are fewer.
bool ReadGaps(std::span<const std::byte>& gaps, uint64_t most, uint64_t& next,
              std::span<uint64_t> places);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_GAPS_H_
