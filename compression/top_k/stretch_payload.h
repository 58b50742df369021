// compression/top_k/stretch_payload.h
//
// Reads and writes payloads that hold some values of a slice: a scale for each
// stretch of places, a bit for each value that says whether it is sent, and an
// int8 code for each value that is sent. The values of one stretch do not
// change the codes of another one, so codes are made in the pass that looks for
// what to send.
#ifndef SKERRY_COMPRESSION_TOP_K_STRETCH_PAYLOAD_H_
#define SKERRY_COMPRESSION_TOP_K_STRETCH_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "compression/top_k/mark_reader.h"
#include "compression/top_k/selection.h"
#include "compression/workspace.h"

namespace skerry::compression {

// Returns how many places share a scale: the least of 256, 512, 1024 and 2048
// of which at least 192 are sent on average. Requires: 8 * count >= elements.
size_t StretchPlaces(size_t elements, size_t count);

// Where the fields of a payload of `count` out of `elements` values are.
struct StretchLayout {
  StretchLayout(size_t elements, size_t count);

  // Returns where the scale of the stretch that begins at `place` is.
  template <typename Byte>
  Byte* ScaleAt(size_t place, Byte* payload) const {
    return payload + place / places * sizeof(float);
  }
  // Returns where the bits of the values from `place` on are. `place` is a
  // multiple of 8.
  template <typename Byte>
  Byte* MarksAt(size_t place, Byte* payload) const {
    return payload + marks_at + place / 8;
  }

  size_t elements;
  size_t count;
  size_t places;    // in a stretch
  size_t marks_at;  // behind the scales, which come first
  size_t codes_at;
  size_t bytes;
};

// Writes the values that are selected in `workspace`, where they are kept as
// values. Requires: finite values, layout.bytes at `out`, and the layout of the
// selection.
void EncodeStretches(const Selection& selection, const StretchLayout& layout,
                     std::byte* out, Workspace& workspace);

// Writes the layout.count largest magnitudes, of equal ones the first. False
// where a value is not finite. Requires: layout.count > 0 and layout.bytes at
// `out`.
bool EncodeLargestStretches(std::span<const float> values,
                            const StretchLayout& layout, std::byte* out,
                            Workspace& workspace);

// Calls use() for ranges that make up the slice, in order or several at once.
// Returns false if EncodeStretches cannot have written `payload`; some ranges
// may have been used.
bool DecodeStretches(std::span<const std::byte> payload,
                     const StretchLayout& layout, Workspace& workspace,
                     absl::FunctionRef<void(const MarkedRange&)> use);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_STRETCH_PAYLOAD_H_
