// compression/dense/cpu/fp16.h
//
// Implements CodecId::kFp16: each value is rounded to the nearest half, ties to
// even. A value beyond the largest half becomes that half, so this codec is for
// values that are known to be below 65504.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_FP16_H_
#define SKERRY_COMPRESSION_DENSE_CPU_FP16_H_

#include <cstddef>

#include "compression/dense/cpu/block_kernels.h"

namespace skerry::compression::cpu {

struct Fp16Layout : WholeByteCodes {
  // Values of one pass of a loop. They have no blocks on the wire.
  static constexpr size_t kElements = 256;
  static constexpr size_t kScaleBytes = 0;
  static constexpr size_t kCodeBits = 16;
};

using Fp16 = BlockKernels<Fp16Layout>;

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_FP16_H_
