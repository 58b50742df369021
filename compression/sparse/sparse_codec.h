// compression/sparse/sparse_codec.h
//
// Implements codecs that send some of the values and leave the rest to error
// feedback. What is sent goes through a dense codec, so sparsifying and
// quantising compose. Payload layouts are in docs/formats/codecs.md.
//
// DecodeAdd adds at the places that were sent, so an accumulator of -0
// elsewhere stays -0.
//
// Indexed payloads count what they hold in 32 bits. If a slice could send more,
// Encode of top_k and threshold_top_k says InvalidArgument before it reads a
// value. The others count nothing and have no such limit.
//
// A reader has to be made with the options of the writer. The codecs of
// presets.h have numbers that fix their options. A job can name no others, and
// FindCodec does not know others.
#ifndef SKERRY_COMPRESSION_SPARSE_SPARSE_CODEC_H_
#define SKERRY_COMPRESSION_SPARSE_SPARSE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "compression/codec_interface.h"

namespace skerry::compression {

// ceil(elements * density), at least 1 of any and at most all.
size_t KeptElements(size_t elements, double density);

struct SparseOptions {
  double density = 0.01;              // in (0, 1]
  CodecId values = CodecId::kRawF32;  // a dense codec
};

// CodecId::kTopK: the KeptElements of largest magnitude, of equal ones the
// first.
//
// Errors: InvalidArgument when the density or the codec is out of its domain;
// so for all of these.
absl::StatusOr<std::unique_ptr<const Codec>> MakeTopK(
    const SparseOptions& options);

// CodecId::kRandomK: one value of each of KeptElements equal parts of the
// slice, drawn from `seed` (run, step, span mixed). No index is sent, and all
// that share a seed send the same places. Nothing is scaled: with error
// feedback that would diverge. A seed for each step: random_k.h.
absl::StatusOr<std::unique_ptr<const Codec>> MakeRandomK(
    const SparseOptions& options, uint64_t seed);

// CodecId::kChunkTopK: of each 4096 values the `kept` of largest magnitude, of
// equal ones the first, with 12 bits of index and 2 bits of value each
// (SparseLoCo, arXiv 2508.15706). 1 <= kept <= 4096.
absl::StatusOr<std::unique_ptr<const Codec>> MakeChunkTopK(size_t kept);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_SPARSE_SPARSE_CODEC_H_
