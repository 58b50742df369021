// compression/chunk_top_k/chunk_top_k.h
//
// Implements CodecId::kChunkTopK, which sends the largest values of each chunk
// of 4096 with two bits each (SparseLoCo, arXiv 2508.15706).
#ifndef SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_TOP_K_H_
#define SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_TOP_K_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "compression/codec_interface.h"

namespace skerry::compression {

// Sends the `kept` values of largest magnitude in each 4096, of equal ones the
// first, with 12 bits of index and 2 bits of value each.
//
// Errors: InvalidArgument unless 1 <= kept <= 4096.
absl::StatusOr<std::unique_ptr<const Codec>> MakeChunkTopK(size_t kept);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_TOP_K_H_
