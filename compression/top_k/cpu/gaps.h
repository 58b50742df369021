// compression/top_k/cpu/gaps.h
//
// Encodes ascending places as varints of the gaps between them
// (docs/formats/codecs.md). A gap is the number of places between a place and
// the one before it.
#ifndef SKERRY_COMPRESSION_TOP_K_CPU_GAPS_H_
#define SKERRY_COMPRESSION_TOP_K_CPU_GAPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace skerry::compression::cpu {

// Returns the bytes of the gaps of all places but the first.
size_t GapBytes(std::span<const uint32_t> places);

// Writes these gaps, and nothing behind them. Returns the end.
std::byte* WriteGaps(std::span<const uint32_t> places, std::byte* out);

// These take one gap: the first returns its bytes, the second writes it.
size_t GapBytes(uint64_t gap);
std::byte* WriteGap(uint64_t gap, std::byte* out);

struct GapSums {
  size_t gaps = 0;
  uint64_t places = 0;  // what they span: each gap and the place behind it
};

// Sums the gaps of varints. Returns nothing when one does not end or is not the
// shortest, or when they span more than `most` places. Requires: most < 2^62.
std::optional<GapSums> SumGaps(std::span<const std::byte> gaps, uint64_t most);

// Fills `places` from the front of `gaps`, which it shortens. `next` is the
// place after the last one that was read, and moves on. Returns false if
// SumGaps would return nothing, or if there are too few gaps.
bool ReadGaps(std::span<const std::byte>& gaps, uint64_t most, uint64_t& next,
              std::span<uint64_t> places);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TOP_K_CPU_GAPS_H_
