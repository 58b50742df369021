// compression/sparse/marked_payload.h
//
// Some values of a slice as a bit for each value, whether it is sent, and the
// values by a dense codec: shorter than gaps between places where one value in
// eight is sent, or more.
#ifndef SKERRY_COMPRESSION_SPARSE_MARKED_PAYLOAD_H_
#define SKERRY_COMPRESSION_SPARSE_MARKED_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "compression/cpu/marks.h"
#include "compression/dense_codec.h"
#include "compression/sparse/selection.h"
#include "compression/workspace.h"

namespace skerry::compression {

// So many of `elements` are sent like this, or more.
size_t MarkedLeast(size_t elements);
inline bool IsMarked(size_t elements, size_t count) {
  return count >= MarkedLeast(elements);
}
// Requires: IsMarked().
size_t MarkedBytes(size_t elements, size_t count, const DenseCodec& inner);

// Writes what is selected in `workspace`: finite values, IsMarked(). Requires:
// MarkedBytes() at `out`.
//
// Errors: as inner.Encode.
absl::Status EncodeMarked(const Selection& selection, const DenseCodec& inner,
                          std::byte* out, Workspace& workspace);

// Values of a slice that are read at once, at most.
inline constexpr size_t kMarkedStep = 4096;

// What was sent of the values [begin, begin + size) of a slice.
struct MarkedRange {
  size_t begin;
  size_t size;            // kMarkedStep, or less at the end
  const uint64_t* words;  // bits of them
  // Those that are sent, for the caller to change, and cpu::kMarkedSlack that
  // mean nothing.
  float* values;
  size_t count;
};

// Calls use() for ranges that make up the slice, in order or several at once.
// False when `payload` is not what EncodeMarked writes of `count` out of
// `elements`; some ranges may have been used. Requires: IsMarked().
bool DecodeMarked(std::span<const std::byte> payload, size_t elements,
                  size_t count, const DenseCodec& inner, Workspace& workspace,
                  absl::FunctionRef<void(const MarkedRange&)> use);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_SPARSE_MARKED_PAYLOAD_H_
