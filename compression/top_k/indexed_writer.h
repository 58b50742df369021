// compression/top_k/indexed_writer.h
//
// Writes the payloads that compression/top_k/indexed_payload.h reads, in parts
// of the slice at once and in steps that fit a first-level cache.
#ifndef SKERRY_COMPRESSION_TOP_K_INDEXED_WRITER_H_
#define SKERRY_COMPRESSION_TOP_K_INDEXED_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "compression/dense/dense_codec.h"
#include "compression/top_k/selection.h"
#include "compression/workspace.h"

namespace skerry::compression {

// How many values are sent, which a payload begins with.
inline constexpr size_t kCountBytes = sizeof(uint32_t);

// Errors: InvalidArgument, naming the codec, for more values than a payload can
// count: 2^32 - 1.
absl::Status CheckIndexedCount(size_t count, const char* codec);

// The largest payload of `count` out of `elements`.
size_t IndexedBytesMax(size_t elements, size_t count, const DenseCodec& inner);

// Replaces `payload` with the `kept` largest magnitudes, of equal ones the
// first, as many as CheckIndexedCount takes. Requires: kept <= values.size().
//
// Errors: InvalidArgument, naming the codec, when a value is not finite.
absl::Status EncodeLargest(std::span<const float> values, size_t kept,
                           const DenseCodec& inner, std::string_view codec,
                           std::vector<std::byte>& payload,
                           Workspace& workspace);

// Replaces `payload` with what is selected in `workspace`: finite values, as
// many as CheckIndexedCount takes.
//
// Errors: as inner.Encode.
absl::Status EncodeIndexed(const Selection& selection, const DenseCodec& inner,
                           std::vector<std::byte>& payload,
                           Workspace& workspace);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_INDEXED_WRITER_H_
