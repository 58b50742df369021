// compression/cpu/gaps.h
//
// Ascending places as varints of the gaps between them
// (docs/formats/codecs.md): of each place after the first, what lies between it
// and the one before.
#ifndef SKERRY_COMPRESSION_CPU_GAPS_H_
#define SKERRY_COMPRESSION_CPU_GAPS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

// Bytes of the gaps of places[1], places[2], ..
size_t GapBytes(std::span<const uint32_t> places);

// Writes them, and nothing behind; returns the end.
std::byte* WriteGaps(std::span<const uint32_t> places, std::byte* out);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_GAPS_H_
