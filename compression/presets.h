// compression/presets.h
//
// Lists sparse codecs whose number fixes their options, so that a frame, a
// stored result and a job can name them. Each family sends one value in
// N = 4, 8, .. 256:
//   top_k/N, threshold_top_k/N  over int8_block; the latter with SIDCo-P
//   chunk_top_k/N               4096 / N of each 4096, at 2 bits
#ifndef SKERRY_COMPRESSION_PRESETS_H_
#define SKERRY_COMPRESSION_PRESETS_H_

#include <span>

#include "compression/dense/dense_codec.h"

namespace skerry::compression {

// By number. They live for ever.
std::span<const NamedCodec> SparsePresets();

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_PRESETS_H_
