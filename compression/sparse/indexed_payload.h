// compression/sparse/indexed_payload.h
//
// Some values of a slice with their places, as bytes: a count, the gaps between
// places, and the values by a dense codec.
#ifndef SKERRY_COMPRESSION_SPARSE_INDEXED_PAYLOAD_H_
#define SKERRY_COMPRESSION_SPARSE_INDEXED_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/codec_interface.h"

namespace skerry::compression {

struct IndexedValues {
  std::vector<uint64_t> indices;  // ascending, each once
  std::vector<float> values;      // as many
};

// The largest payload of `count` out of `elements`.
size_t IndexedBytesMax(size_t elements, size_t count, const Codec& inner);

// Replaces `payload` with values[i] for every i of `indices`. Requires:
// `indices` ascend, each once and below values.size(), fewer than 2^32.
//
// Errors: as inner.Encode.
absl::Status EncodeIndexed(std::span<const float> values,
                           std::span<const uint64_t> indices,
                           const Codec& inner, std::vector<std::byte>& payload);

// Allocates no more than a few times the payload.
//
// Errors: DataLoss when `payload` is not what EncodeIndexed writes of a count
// in [count_min, count_max] out of `elements`.
absl::StatusOr<IndexedValues> DecodeIndexed(std::span<const std::byte> payload,
                                            size_t elements, size_t count_min,
                                            size_t count_max,
                                            const Codec& inner);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_SPARSE_INDEXED_PAYLOAD_H_
