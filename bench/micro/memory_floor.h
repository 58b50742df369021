// bench/micro/memory_floor.h
//
// These loops move as many bytes as a codec and do nothing else. So they show
// what this machine's memory allows for that mix of reads and writes. They use
// the codecs' SIMD width, and the caller cuts the buffers for threads as it
// does for codecs.
#ifndef SKERRY_BENCH_MICRO_MEMORY_FLOOR_H_
#define SKERRY_BENCH_MICRO_MEMORY_FLOOR_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::bench {

// Sizes of either side are free, wide.size() >= narrow.size(); of each, less
// than three vectors stay untouched.

// How a loop goes through its buffers. It may go by vectors of the narrow side,
// with the matching vectors of the wide side, and store ordinarily or past the
// caches. Or it may go by equal steps of the wide side, which FloorWiden stores
// past the caches and others ordinarily. The machine and the sizes decide which
// is the fastest.
enum class Way { kGroups, kGroupsPastCaches, kSteps };

// Reads `wide`, writes `narrow`: an encoder. Here and below, memory is asked
// for what is so many bytes ahead and for later pages, unless that is 0.
void FloorNarrow(std::span<const std::byte> wide, std::span<std::byte> narrow,
                 Way way, size_t ahead);
// Reads `narrow`, writes `wide`: a decoder.
void FloorWiden(std::span<const std::byte> narrow, std::span<std::byte> wide,
                Way way, size_t ahead);
// Does the same for a sparse decoder: nearly all written values are zeros, in
// runs of this many bytes, which is more than a vector.
void FloorClear(std::span<const std::byte> narrow, std::span<std::byte> wide,
                size_t run_bytes);
// Reads both, writes `wide`, which stays what it was: a decoder that adds.
void FloorUpdate(std::span<const std::byte> narrow, std::span<std::byte> wide,
                 Way way, size_t ahead);
// Reads `narrow`, and adds to some places of `wide`, asking for `ahead` of
// them: a decoder that adds where something was sent.
void FloorTouch(std::span<const std::byte> narrow,
                std::span<const uint32_t> places, size_t ahead,
                std::span<float> wide);

}  // namespace skerry::bench

#endif  // SKERRY_BENCH_MICRO_MEMORY_FLOOR_H_
