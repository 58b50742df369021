// compression/testing/codec_conformance.h
//
// What every codec promises, as tests. A codec passes by being instantiated:
//   INSTANTIATE_TEST_SUITE_P(Bf16, CodecConformance, Values(CodecId::kBf16));
#ifndef SKERRY_COMPRESSION_TESTING_CODEC_CONFORMANCE_H_
#define SKERRY_COMPRESSION_TESTING_CODEC_CONFORMANCE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "compression/codec.h"
#include "gtest/gtest.h"

namespace skerry::compression {

class CodecConformance : public ::testing::TestWithParam<CodecId> {
 protected:
  void SetUp() override;

  std::vector<std::byte> Encode(std::span<const float> values) const;
  std::vector<float> Decode(std::span<const std::byte> payload,
                            size_t count) const;

  const Codec* codec_ = nullptr;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_CODEC_CONFORMANCE_H_
