// bench/micro/memory_floor.h
//
// Loops that move the bytes of a codec and do nothing else: what the memory of
// this machine allows for that mix of reads and writes. They use the same SIMD
// width, ordinary loads and stores, and one thread, as the codecs do.
#ifndef SKERRY_BENCH_MICRO_MEMORY_FLOOR_H_
#define SKERRY_BENCH_MICRO_MEMORY_FLOOR_H_

#include <cstddef>
#include <span>

namespace skerry::bench {

// How many bytes of fp32 meet one byte of the narrow side: 1, 2 or 4.
enum class Mix { kOneToOne = 1, kTwoToOne = 2, kFourToOne = 4 };

// Requires of all three: wide.size() == narrow.size() * mix, and both divide by
// 64.

// Reads `wide`, writes `narrow`: an encoder.
void FloorNarrow(Mix mix, std::span<const std::byte> wide,
                 std::span<std::byte> narrow);
// Reads `narrow`, writes `wide`: a decoder.
void FloorWiden(Mix mix, std::span<const std::byte> narrow,
                std::span<std::byte> wide);
// Reads both, writes `wide`: a decoder that adds.
void FloorUpdate(Mix mix, std::span<const std::byte> narrow,
                 std::span<std::byte> wide);

}  // namespace skerry::bench

#endif  // SKERRY_BENCH_MICRO_MEMORY_FLOOR_H_
