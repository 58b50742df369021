// compression/dense_codec.h
//
// Codecs whose size follows from the element count: numbers 0 to 63.
#ifndef SKERRY_COMPRESSION_DENSE_CODEC_H_
#define SKERRY_COMPRESSION_DENSE_CODEC_H_

#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "compression/codec_interface.h"

namespace skerry::compression {

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
absl::StatusOr<const Codec*> FindDenseCodec(CodecId id);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_DENSE_CODEC_H_
