// compression/top_k/inner_codec.h
//
// An inner codec is the dense codec that encodes the values that a sparse codec
// sends.
#ifndef SKERRY_COMPRESSION_TOP_K_INNER_CODEC_H_
#define SKERRY_COMPRESSION_TOP_K_INNER_CODEC_H_

#include "absl/status/statusor.h"
#include "compression/dense/dense_codec.h"
#include "compression/top_k/top_k.h"

namespace skerry::compression {

// Errors: InvalidArgument when an option is out of its domain.
absl::StatusOr<const DenseCodec*> InnerOf(const SparseOptions& options);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_INNER_CODEC_H_
