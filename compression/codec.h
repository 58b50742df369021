// compression/codec.h
//
// A codec turns a slice of fp32 values into bytes for a slow link, and back.
//
// A codec is a pure function of its input: the same values give the same bytes
// on every machine and at every SIMD width. So a hash of encoded bytes can
// stand for the state that results from them. threshold_top_k is an exception:
// two builds may send different values, which every reader can decode. A
// payload does not contain its own length, because the reader knows how many
// elements a span has. Byte layouts are in docs/formats/codecs.md.
#ifndef SKERRY_COMPRESSION_CODEC_H_
#define SKERRY_COMPRESSION_CODEC_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "compression/codec_interface.h"

namespace skerry::compression {

// The codec of that number, which lives for ever.
//
// Errors: Unimplemented when this build has none.
absl::StatusOr<const Codec*> FindCodec(CodecId id);

// Names in job files and on the command line: "raw_f32", "bf16", "int8_block",
// "fp16", "sign1", "sign1_whole", "nf4", "nf4_f32", "e3m0", "e3m0_f32",
// "lloyd2", and "top_k/N", "chunk_top_k/N" and "threshold_top_k/N" for N = 4,
// 8, .. 256.
//
// Errors: InvalidArgument, listing the names.
absl::StatusOr<CodecId> ParseCodecName(std::string_view name);

// Whether it leaves out values, which only error feedback brings in.
bool IsSparse(CodecId id);

// The error-feedback factor of a job that names none: 1 where a codec loses
// a third of a value or more in one go, 0 where its error is too small to
// carry.
double DefaultErrorFeedback(CodecId id);

// "unknown" for a number that this build does not know.
std::string_view CodecName(CodecId id);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CODEC_H_
