// tests/fuzz/codec_fuzz.h
//
// Gives any bytes to a codec as a payload. Accepted bytes must decode to finite
// values, in one piece as in parts, and DecodeAdd must add the values that
// Decode gives.
#ifndef SKERRY_TESTS_FUZZ_CODEC_FUZZ_H_
#define SKERRY_TESTS_FUZZ_CODEC_FUZZ_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/codec.h"

namespace skerry::compression {

// The first two bytes say how many elements are claimed (claimed_elements.h),
// the rest is payload; and once more with the payload's length made to fit.
void FuzzDecoder(CodecId id, std::span<const std::byte> input);

}  // namespace skerry::compression

#endif  // SKERRY_TESTS_FUZZ_CODEC_FUZZ_H_
