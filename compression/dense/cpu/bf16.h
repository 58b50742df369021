// compression/dense/cpu/bf16.h
//
// Implements CodecId::kBf16: the upper half of each fp32 value, rounded to
// nearest even. A value that would round to infinity takes the largest finite
// bf16, so the relative error stays within 2^-8 everywhere but among
// subnormals.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_BF16_H_
#define SKERRY_COMPRESSION_DENSE_CPU_BF16_H_

#include <cstddef>

#include "compression/dense/cpu/block_kernels.h"

namespace skerry::compression::cpu {

struct Bf16Layout : WholeByteCodes {
  // Values of one pass of a loop. They have no blocks on the wire.
  static constexpr size_t kElements = 256;
  static constexpr size_t kScaleBytes = 0;
  static constexpr size_t kCodeBits = 16;
};

using Bf16 = BlockKernels<Bf16Layout>;

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_BF16_H_
