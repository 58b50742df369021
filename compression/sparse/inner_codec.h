// compression/sparse/inner_codec.h
//
// An inner codec is the dense codec that encodes the values that a sparse codec
// sends.
#ifndef SKERRY_COMPRESSION_SPARSE_INNER_CODEC_H_
#define SKERRY_COMPRESSION_SPARSE_INNER_CODEC_H_

#include "absl/status/statusor.h"
#include "compression/dense_codec.h"
#include "compression/sparse/sparse_codec.h"

namespace skerry::compression {

// Errors: InvalidArgument when an option is out of its domain.
absl::StatusOr<const DenseCodec*> InnerOf(const SparseOptions& options);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_SPARSE_INNER_CODEC_H_
