// compression/chunk_top_k/cpu/select_chunk.h
//
// Finds the largest magnitudes of a chunk. Magnitudes are compared as in
// compression/top_k/cpu/select.h.
#ifndef SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_SELECT_CHUNK_H_
#define SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_SELECT_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

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

#endif  // SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_SELECT_CHUNK_H_
