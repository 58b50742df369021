// compression/testing/reference_sparse.h
//
// Implements the sparse codecs in scalar code, written from
// docs/formats/codecs.md without a line of their code. It sorts whole slices
// and handles bits one at a time.
#ifndef SKERRY_COMPRESSION_TESTING_REFERENCE_SPARSE_H_
#define SKERRY_COMPRESSION_TESTING_REFERENCE_SPARSE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compression/codec.h"

namespace skerry::compression {

// Ascending places of the k largest magnitudes, of equal ones the first.
std::vector<size_t> ReferenceTopKPlaces(std::span<const float> values,
                                        size_t k);

// Count, gaps or bits, and values; with bits, int8_block's scales are those of
// stretches of places. `inner` is a dense codec.
std::vector<std::byte> ReferenceEncodeIndexed(std::span<const float> values,
                                              std::span<const size_t> places,
                                              CodecId inner);
// The values at `places` only.
std::vector<std::byte> ReferenceEncodeValues(std::span<const float> values,
                                             std::span<const size_t> places,
                                             CodecId inner);
// What these decode to: zeros but at `places`.
std::vector<float> ReferenceSparseIndexed(std::span<const float> values,
                                          std::span<const size_t> places,
                                          CodecId inner);
std::vector<float> ReferenceSparseValues(std::span<const float> values,
                                         std::span<const size_t> places,
                                         CodecId inner);

struct ReferenceChunkTopK {
  std::vector<std::byte> payload;
  std::vector<float> decoded;
};
ReferenceChunkTopK ReferenceEncodeChunkTopK(std::span<const float> values,
                                            size_t kept);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_REFERENCE_SPARSE_H_
