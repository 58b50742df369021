// compression/chunk_top_k/cpu/mark_chunk.h
//
// Marks the largest magnitudes of a chunk with bits, for chunks that send many
// of their values. Magnitudes are compared as in
// compression/top_k/cpu/select.h.
#ifndef SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_MARK_CHUNK_H_
#define SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_MARK_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/chunk_top_k/cpu/select_chunk.h"
#include "compression/top_k/cpu/marks.h"

namespace skerry::compression::cpu {

inline constexpr size_t kChunkWords = kChunkElements / kMarkedValues;

// A guess of the k-th largest magnitude of a chunk, and how far to search on
// either side. One chunk leaves it for the next; it only saves time.
struct ChunkGuess {
  uint32_t magnitude = 0;
  uint32_t margin = 1u << 19;
};

// Sets the bits of the k largest magnitudes, of equal ones the first, and
// clears all others in the words of the values. Writes those values in order.
// Values that are not finite count as larger than all others. Requires: 1 <= k
// <= values.size() <= kChunkElements; room for k kept values and kChunkSlack
// more.
void MarkChunk(std::span<const float> values, size_t k, ChunkGuess& guess,
               uint64_t* words, float* kept);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_MARK_CHUNK_H_
