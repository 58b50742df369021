// compression/top_k/marked_payload.h
//
// A marked payload has a bit for each value of a slice that tells whether it is
// sent, and the sent values in a dense codec. It is shorter than gaps between
// places if one value in eight or more is sent. Over int8_block, scales belong
// to stretches of places (compression/top_k/stretch_payload.h).
#ifndef SKERRY_COMPRESSION_TOP_K_MARKED_PAYLOAD_H_
#define SKERRY_COMPRESSION_TOP_K_MARKED_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "compression/dense/dense_codec.h"
#include "compression/top_k/mark_reader.h"
#include "compression/top_k/selection.h"
#include "compression/workspace.h"

namespace skerry::compression {

// So many of `elements` are sent like this, or more.
size_t MarkedLeast(size_t elements);
inline bool IsMarked(size_t elements, size_t count) {
  return count >= MarkedLeast(elements);
}
// Whether scales belong to stretches.
bool IsStretched(const DenseCodec& inner);
// Requires: IsMarked().
size_t MarkedBytes(size_t elements, size_t count, const DenseCodec& inner);

// Writes what is selected in `workspace`: finite values, IsMarked(). Requires:
// MarkedBytes() at `out`.
//
// Errors: as inner.Encode.
absl::Status EncodeMarked(const Selection& selection, const DenseCodec& inner,
                          std::byte* out, Workspace& workspace);

// Calls use() for ranges that make up the slice, in order or several at once.
// Returns false if EncodeMarked cannot have written `payload` for `count` out
// of `elements`; some ranges may have been used. Requires: IsMarked().
bool DecodeMarked(std::span<const std::byte> payload, size_t elements,
                  size_t count, const DenseCodec& inner, Workspace& workspace,
                  absl::FunctionRef<void(const MarkedRange&)> use);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_MARKED_PAYLOAD_H_
