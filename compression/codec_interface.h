// compression/codec_interface.h
//
// Defines the interface of all codecs. compression/codec.h finds them by
// number.
#ifndef SKERRY_COMPRESSION_CODEC_INTERFACE_H_
#define SKERRY_COMPRESSION_CODEC_INTERFACE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "compression/workspace.h"

namespace skerry::compression {

// Numbers on the wire and on disk: never reused. 0..63 are dense codecs whose
// size follows from the element count.
enum class CodecId : uint8_t {
  kRawF32 = 0,
  kBf16 = 1,        // round to nearest even
  kInt8Block = 2,   // 256 values share one fp32 scale
  kFp16 = 3,        // round to nearest even, at most 65504
  kSign1 = 4,       // one bit a value, 256 values share their rms
  kSign1Whole = 5,  // one bit a value, one rms for all
  kNf4 = 6,         // 4 bits, 64 values share a bf16 scale
  kNf4F32 = 7,      // as kNf4 with fp32 scales
  kE3m0 = 8,        // a sign and 3 exponent bits, 64 values share a bf16 scale
  kE3m0F32 = 9,     // as kE3m0 with fp32 scales
  kLloyd2 = 10,     // 2 bits a value, 256 values share their rms
  // Sparse, with options of their own; no job can name them and FindCodec has
  // none. 65 was a codec that was withdrawn.
  kTopK = 64,
  kChunkTopK = 66,
  kThresholdTopK = 67,
  // Sparse with options that the number fixes (compression/presets.h).
  // The first of seven each, which send one value in 4, 8, .. 256.
  kTopKIn4 = 72,
  kChunkTopKIn4 = 80,
  kThresholdTopKIn4 = 88,
};

// Stateless; any number of threads may use one codec at once, each with its
// own workspace.
class Codec {
 public:
  virtual ~Codec() = default;

  virtual CodecId id() const = 0;

  // The largest payload that `elements` values can need.
  virtual size_t MaxEncodedBytes(size_t elements) const = 0;

  // Replaces `payload`. The bytes depend on the values alone, not on the
  // workspace's executor.
  //
  // Errors: InvalidArgument when a value is NaN or infinite, naming the first
  // such index; `payload` is then unspecified.
  virtual absl::Status Encode(std::span<const float> values,
                              std::vector<std::byte>& payload,
                              Workspace& workspace) const = 0;

  // Overwrites `values`.
  //
  // Errors: DataLoss when `payload` is not an encoding of values.size()
  // elements; `values` are then unspecified. Whatever is accepted decodes to
  // finite values.
  virtual absl::Status Decode(std::span<const std::byte> payload,
                              std::span<float> values,
                              Workspace& workspace) const = 0;

  // accumulators[i] += decoded[i] in fp32 without contraction: the same bits
  // as Decode followed by an addition. Errors: as Decode; the accumulators are
  // then unspecified as well, so the sum has to be started anew.
  virtual absl::Status DecodeAdd(std::span<const std::byte> payload,
                                 std::span<float> accumulators,
                                 Workspace& workspace) const = 0;

  // With a workspace for this one call, on the calling thread.
  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload) const {
    Workspace workspace;
    return Encode(values, payload, workspace);
  }
  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values) const {
    Workspace workspace;
    return Decode(payload, values, workspace);
  }
  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators) const {
    Workspace workspace;
    return DecodeAdd(payload, accumulators, workspace);
  }
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CODEC_INTERFACE_H_
