// compression/sparse/indexed_payload.h
//
// Some values of a slice with their places, as bytes: a count, the gaps between
// places, and the values by a dense codec.
#ifndef SKERRY_COMPRESSION_SPARSE_INDEXED_PAYLOAD_H_
#define SKERRY_COMPRESSION_SPARSE_INDEXED_PAYLOAD_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "compression/codec_interface.h"
#include "compression/sparse/selection.h"
#include "compression/workspace.h"

namespace skerry::compression {

// How many values a payload may hold.
struct CountRange {
  size_t least = 0;
  size_t most = 0;
};

// The largest payload of `count` out of `elements`.
size_t IndexedBytesMax(size_t elements, size_t count, const Codec& inner);

// Replaces `payload` with what is selected in `workspace`, fewer than 2^32
// values.
//
// Errors: as inner.Encode.
absl::Status EncodeIndexed(const Selection& selection, const Codec& inner,
                           std::vector<std::byte>& payload,
                           Workspace& workspace);

// Leaves ascending places in workspace.indices and as many values in
// workspace.values. Needs no more memory than a few times the payload.
//
// Errors: DataLoss when `payload` is not what EncodeIndexed writes of a count
// in range out of `elements`.
absl::Status DecodeIndexed(std::span<const std::byte> payload, size_t elements,
                           const CountRange& range, const Codec& inner,
                           Workspace& workspace);

// A codec whose payload is that of EncodeIndexed.
class IndexedCodec : public Codec {
 public:
  size_t MaxEncodedBytes(size_t elements) const final;
  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values,
                      Workspace& workspace) const final;
  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators,
                         Workspace& workspace) const final;

 protected:
  explicit IndexedCodec(const Codec& inner) : inner_(inner) {}

  virtual CountRange CountsOf(size_t elements) const = 0;
  const Codec& inner() const { return inner_; }

 private:
  const Codec& inner_;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_SPARSE_INDEXED_PAYLOAD_H_
