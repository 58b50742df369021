// compression/dense/dense_codec.h
//
// Defines the codecs whose size follows from the element count: numbers 0 to
// 63.
#ifndef SKERRY_COMPRESSION_DENSE_DENSE_CODEC_H_
#define SKERRY_COMPRESSION_DENSE_DENSE_CODEC_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "compression/codec_interface.h"

namespace skerry::compression {

class DenseCodec : public Codec {
 public:
  // Values that are coded together; 0 when all of a slice are.
  virtual size_t BlockElements() const = 0;

  // These work on the values of a slice of `count` that begin at `begin`, the
  // first of a block, and end with a block or the slice; `payload` is that of
  // the slice. Any number of parts may be worked on at once.

  // False when a value is not finite. Requires: BlockElements() > 0.
  virtual bool EncodeBlocks(std::span<const float> values, size_t begin,
                            size_t count, std::byte* payload) const = 0;
  // False where Decode would refuse. Requires: as many bytes as `count` take.
  virtual bool DecodeBlocks(const std::byte* payload, size_t begin,
                            size_t count, std::span<float> values) const = 0;
};

struct NamedCodec {
  CodecId id;
  std::string_view name;
  const Codec* codec;
};

// Every dense codec of this build, by number.
std::span<const NamedCodec> DenseCodecs();

// "unknown" for a number that is not one of them.
std::string_view DenseCodecName(CodecId id);

// Errors: Unimplemented when this build has none of that number.
absl::StatusOr<const DenseCodec*> FindDenseCodec(CodecId id);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_DENSE_DENSE_CODEC_H_
