// compression/testing/reference_codecs.h
//
// Implements the codecs in scalar code, written from docs/formats/codecs.md
// without a line of the kernels. Tests compare bytes, so the two must agree
// exactly.
#ifndef SKERRY_COMPRESSION_TESTING_REFERENCE_CODECS_H_
#define SKERRY_COMPRESSION_TESTING_REFERENCE_CODECS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compression/codec.h"

namespace skerry::compression {

// Requires: finite values and a known codec.
std::vector<std::byte> ReferenceEncode(CodecId codec,
                                       std::span<const float> values);
// Requires: a payload that ReferenceEncode made of `count` values.
std::vector<float> ReferenceDecode(CodecId codec,
                                   std::span<const std::byte> payload,
                                   size_t count);

// One block of int8_block, of any size: value i is codes[i] * scale.
struct ReferenceInt8 {
  float scale = 0.0f;
  std::vector<int8_t> codes;
};
// Requires: finite values.
ReferenceInt8 ReferenceEncodeInt8(std::span<const float> values);

// The largest |decoded - values[index]| that the codec promises.
double ErrorBound(CodecId codec, std::span<const float> values, size_t index);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_REFERENCE_CODECS_H_
