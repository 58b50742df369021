// compression/testing/codec_conformance.h
//
// Tests what every codec promises. A codec passes by being instantiated:
//   INSTANTIATE_TEST_SUITE_P(Numbered, CodecConformance,
//                            ValuesIn(NumberedCases()));
#ifndef SKERRY_COMPRESSION_TESTING_CODEC_CONFORMANCE_H_
#define SKERRY_COMPRESSION_TESTING_CODEC_CONFORMANCE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "compression/testing/conformance_cases.h"
#include "gtest/gtest.h"

namespace skerry::compression {

class CodecConformance : public ::testing::TestWithParam<ConformanceCase> {
 protected:
  const Codec& codec() const { return *GetParam().codec; }
  std::vector<std::byte> Encode(std::span<const float> values) const;
  std::vector<float> Decode(std::span<const std::byte> payload,
                            size_t count) const;
};

// Tests what only codecs promise whose size follows from the element count:
// bounds for each value, and nothing lost by a second encoding.
class DenseCodecConformance : public CodecConformance {};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_CODEC_CONFORMANCE_H_
