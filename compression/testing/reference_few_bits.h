// compression/testing/reference_few_bits.h
//
// Implements the codecs of one, two and four bits in scalar code, written from
// docs/formats/codecs.md without a line of the kernels.
#ifndef SKERRY_COMPRESSION_TESTING_REFERENCE_FEW_BITS_H_
#define SKERRY_COMPRESSION_TESTING_REFERENCE_FEW_BITS_H_

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace skerry::compression {

// `block` values share a scale; the whole slice where it is 0.
std::vector<std::byte> ReferenceEncodeSign1(std::span<const float> values,
                                            size_t block);
std::vector<float> ReferenceDecodeSign1(std::span<const std::byte> payload,
                                        size_t count, size_t block);
// The scale that values of one block share.
float ReferenceSign1Scale(std::span<const float> values);

std::vector<std::byte> ReferenceEncodeLloyd2(std::span<const float> values);
std::vector<float> ReferenceDecodeLloyd2(std::span<const std::byte> payload,
                                         size_t count);

struct ReferenceLevels {
  std::array<float, 16> values;
  int zero;  // the code of a block without a scale
};
const ReferenceLevels& ReferenceNf4Levels();
const ReferenceLevels& ReferenceE3m0Levels();

// `scale_bytes` is 4 for fp32 scales and 2 for bf16 ones.
std::vector<std::byte> ReferenceEncodeBlock4(std::span<const float> values,
                                             const ReferenceLevels& levels,
                                             size_t scale_bytes);
std::vector<float> ReferenceDecodeBlock4(std::span<const std::byte> payload,
                                         size_t count,
                                         const ReferenceLevels& levels,
                                         size_t scale_bytes);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_REFERENCE_FEW_BITS_H_
