// compression/top_k/top_k.h
//
// Implements CodecId::kTopK, which sends the largest values and leaves the rest
// to error feedback. What is sent goes through a dense codec, so sparsifying
// and quantising compose. Payload layouts are in docs/formats/codecs.md.
//
// DecodeAdd adds at the places that were sent, so an accumulator of -0
// elsewhere stays -0.
//
// Indexed payloads count what they hold in 32 bits. If a slice could send more,
// Encode of top_k and threshold_top_k says InvalidArgument before it reads a
// value. chunk_top_k counts nothing and has no such limit.
//
// A reader has to be made with the options of the writer. The codecs of
// presets.h have numbers that fix their options. A job can name no others, and
// FindCodec does not know others.
#ifndef SKERRY_COMPRESSION_TOP_K_TOP_K_H_
#define SKERRY_COMPRESSION_TOP_K_TOP_K_H_

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

// The KeptElements of largest magnitude, of equal ones the first.
//
// Errors: InvalidArgument when the density or the codec is out of its domain.
absl::StatusOr<std::unique_ptr<const Codec>> MakeTopK(
    const SparseOptions& options);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_TOP_K_H_
