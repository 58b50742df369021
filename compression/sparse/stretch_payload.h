// compression/sparse/stretch_payload.h
//
// Some values of a slice as scales of stretches of places, a bit for each
// value, whether it is sent, and int8 codes: what is sent of one place changes
// the codes of no other stretch, so they are made in the pass that looks for
// what to send.
#ifndef SKERRY_COMPRESSION_SPARSE_STRETCH_PAYLOAD_H_
#define SKERRY_COMPRESSION_SPARSE_STRETCH_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "compression/sparse/mark_reader.h"
#include "compression/sparse/selection.h"
#include "compression/workspace.h"

namespace skerry::compression {

// How many places share a scale: the least of 256, 512, 1024 and 2048 of which
// 192 or more are sent on average. Requires: 8 * count >= elements.
size_t StretchPlaces(size_t elements, size_t count);

// Where everything is in a payload of `count` out of `elements`.
struct StretchLayout {
  StretchLayout(size_t elements, size_t count);

  // Of the stretch that begins at `place`.
  template <typename Byte>
  Byte* ScaleAt(size_t place, Byte* payload) const {
    return payload + place / places * sizeof(float);
  }
  // Of the values from `place` on, a multiple of 8.
  template <typename Byte>
  Byte* MarksAt(size_t place, Byte* payload) const {
    return payload + marks_at + place / 8;
  }

  size_t elements;
  size_t count;
  size_t places;    // of a stretch
  size_t marks_at;  // behind the scales, which come first
  size_t codes_at;
  size_t bytes;
};

// Writes what is selected in `workspace`, kept as values. Requires: finite
// values, layout.bytes at `out`, and the layout is that of the selection.
void EncodeStretches(const Selection& selection, const StretchLayout& layout,
                     std::byte* out, Workspace& workspace);

// Writes the layout.count largest magnitudes, of equal ones the first. False
// where a value is not finite. Requires: layout.count > 0 and layout.bytes at
// `out`.
bool EncodeLargestStretches(std::span<const float> values,
                            const StretchLayout& layout, std::byte* out,
                            Workspace& workspace);

// Calls use() for ranges that make up the slice, in order or several at once.
// False when `payload` is not what EncodeStretches writes; some ranges may have
// been used.
bool DecodeStretches(std::span<const std::byte> payload,
                     const StretchLayout& layout, Workspace& workspace,
                     absl::FunctionRef<void(const MarkedRange&)> use);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_SPARSE_STRETCH_PAYLOAD_H_
