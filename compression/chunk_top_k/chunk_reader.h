// compression/chunk_top_k/chunk_reader.h
//
// Decodes the values that chunks send, and puts or adds them at their places.
#ifndef SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_READER_H_
#define SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_READER_H_

#include <cstddef>
#include <span>

#include "base/executor.h"
#include "compression/chunk_top_k/chunk_layout.h"

namespace skerry::compression {

// Both functions require a payload of layout.Bytes(values.size()). They return
// false if it is broken; `values` are then unspecified.

// What is not sent becomes 0.
bool PutChunks(const ChunkLayout& layout, std::span<const std::byte> payload,
               std::span<float> values, ParallelExecutor& executor);

// What is not sent stays.
bool AddChunks(const ChunkLayout& layout, std::span<const std::byte> payload,
               std::span<float> values, ParallelExecutor& executor);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_READER_H_
