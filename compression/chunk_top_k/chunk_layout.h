// compression/chunk_top_k/chunk_layout.h
//
// Tells where the fields of a chunk_top_k payload are. The layout is that of
// SparseLoCo (arXiv 2508.15706): 12-bit places and 2-bit codes for each chunk
// of 4096 values. If that is shorter, a chunk has a bit for each value instead
// of places (docs/formats/codecs.md).
#ifndef SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_LAYOUT_H_
#define SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_LAYOUT_H_

#include <algorithm>
#include <array>
#include <cstddef>

#include "compression/chunk_top_k/cpu/bins4.h"
#include "compression/chunk_top_k/cpu/select_chunk.h"

namespace skerry::compression {

inline constexpr size_t kChunk = cpu::kChunkElements;
// The chunks, and the values, of a group. A group shares its levels.
inline constexpr size_t kGroupChunks = 16;
inline constexpr size_t kGroup = kGroupChunks * kChunk;

// The level of each code.
inline constexpr int kCodeBits = 2;
using Book = std::array<float, size_t{1} << kCodeBits>;
inline constexpr size_t kBookBytes = sizeof(Book);
static_assert(std::tuple_size_v<Book> == cpu::kBins);

class ChunkLayout {
 public:
  // Each chunk sends `kept` values, or all where it has fewer.
  explicit ChunkLayout(size_t kept) : kept_(kept) {}

  size_t kept() const { return kept_; }

  // These describe a chunk of `size` values: how many it sends, whether it has
  // bits instead of places, and its bytes.
  size_t SentOf(size_t size) const { return std::min(kept_, size); }
  bool IsMarked(size_t size) const { return SentOf(size) * kIndexBits > size; }
  size_t PlacesBytes(size_t size) const {
    return IsMarked(size) ? BytesOf(size, 1)
                          : BytesOf(SentOf(size), kIndexBits);
  }
  size_t ChunkBytes(size_t size) const {
    return PlacesBytes(size) + BytesOf(SentOf(size), kCodeBits);
  }

  // The bytes of a whole group, which begins with its levels.
  size_t GroupBytes() const {
    return kBookBytes + kGroupChunks * ChunkBytes(kChunk);
  }

  // The bytes of a payload of `elements` values.
  size_t Bytes(size_t elements) const {
    const size_t groups = (elements + kGroup - 1) / kGroup;
    const size_t last = elements % kChunk;
    return groups * kBookBytes + elements / kChunk * ChunkBytes(kChunk) +
           (last == 0 ? 0 : ChunkBytes(last));
  }

  // Where in the payload the places of a chunk begin.
  size_t OffsetOf(size_t chunk) const {
    return chunk / kGroupChunks * GroupBytes() + kBookBytes +
           chunk % kGroupChunks * ChunkBytes(kChunk);
  }

 private:
  static constexpr int kIndexBits = 12;

  static constexpr size_t BytesOf(size_t count, int bits) {
    return (count * static_cast<size_t>(bits) + 7) / 8;
  }

  size_t kept_;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_LAYOUT_H_
