// compression/dense/cpu/sign1.h
//
// Implements CodecId::kSign1 and kSign1Whole: one bit a value, and the root
// mean square of the values that share a scale. The mean square is summed in
// float64 in an order that no vector length changes (docs/formats/codecs.md).
// Without error feedback one bit loses most of what it is given.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_SIGN1_H_
#define SKERRY_COMPRESSION_DENSE_CPU_SIGN1_H_

#include <cstddef>
#include <span>

#include "compression/dense/cpu/block_kernels.h"

namespace skerry::compression::cpu {

struct Sign1Layout {
  // Values that are summed together and, in kSign1, share a scale.
  static constexpr size_t kElements = 256;
  static constexpr size_t kScaleBytes = sizeof(float);
  static constexpr size_t kCodeBits = 1;

  // The first value is in the highest bit.
  static constexpr unsigned BehindMask(size_t elements) {
    return elements % 8 == 0 ? 0 : 0xffu >> (elements % 8);
  }
};

using Sign1 = BlockKernels<Sign1Layout>;

// All values share one scale. Parts are as in BlockKernels, but the scale is
// only known once all parts are summed.
struct Sign1Whole : Sign1Layout {
  static constexpr size_t kScaleBytes = 0;  // of a block
  static constexpr size_t kBlockCodeBytes = Sign1::kBlockCodeBytes;

  static constexpr size_t Blocks(size_t elements) {
    return Sign1::Blocks(elements);
  }
  static constexpr size_t ScaleBytes(size_t elements) {
    return elements == 0 ? 0 : sizeof(float);
  }
  static constexpr size_t CodeBytes(size_t elements) {
    return Sign1::CodeBytes(elements);
  }
  static constexpr size_t Bytes(size_t elements) {
    return ScaleBytes(elements) + CodeBytes(elements);
  }

  // Writes the bits of a part, and to sums[b] the sum of squares of block b.
  static bool EncodeBlocks(std::span<const float> values, size_t begin,
                           size_t count, std::byte* payload, double* sums);
  // Writes the scale. `sums` are those of all blocks of `elements` values, of
  // which there is at least one.
  static void WriteScale(std::span<const double> sums, size_t elements,
                         std::byte* payload);

  static bool DecodeBlocks(const std::byte* payload, size_t begin, size_t count,
                           std::span<float> values,
                           Stores stores = Stores::kCached);
  static bool DecodeAddBlocks(const std::byte* payload, size_t begin,
                              size_t count, std::span<float> accumulators);
};

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_SIGN1_H_
