// compression/top_k/indexed_payload.h
//
// An indexed payload holds some values of a slice with their places: a count,
// the gaps between places, and the values in a dense codec. If one value in
// eight or more is sent, it has a bit for each value instead of gaps
// (compression/top_k/marked_payload.h). Several threads read it at once, in
// steps that fit a first-level cache. compression/top_k/indexed_writer.h
// writes it.
#ifndef SKERRY_COMPRESSION_TOP_K_INDEXED_PAYLOAD_H_
#define SKERRY_COMPRESSION_TOP_K_INDEXED_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "compression/codec_interface.h"
#include "compression/dense/dense_codec.h"
#include "compression/workspace.h"

namespace skerry::compression {

// How many values a payload may hold.
struct CountRange {
  size_t least = 0;
  size_t most = 0;
};

// The sent values among the values [begin, end) of a slice.
struct SentRange {
  size_t begin;
  size_t end;
  std::span<const uint64_t> places;  // ascending
  const float* values;               // as many
};

// Calls use() for ranges that make up the slice, several at once where the
// executor has threads. Needs no more memory than a few times the payload.
//
// Errors: DataLoss when `payload` is not what EncodeIndexed writes of a count
// in range out of `elements`; some ranges may have been used.
absl::Status DecodeIndexed(std::span<const std::byte> payload, size_t elements,
                           const CountRange& range, const DenseCodec& inner,
                           Workspace& workspace,
                           absl::FunctionRef<void(const SentRange&)> use);

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
  explicit IndexedCodec(const DenseCodec& inner) : inner_(inner) {}

  virtual CountRange CountsOf(size_t elements) const = 0;
  const DenseCodec& inner() const { return inner_; }

 private:
  const DenseCodec& inner_;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_INDEXED_PAYLOAD_H_
