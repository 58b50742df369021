// compression/dense/cpu/raw_f32.h
//
// Implements CodecId::kRawF32: the values themselves, little-endian. It exists
// so that "no compression" refuses NaN and infinity as every codec does.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_RAW_F32_H_
#define SKERRY_COMPRESSION_DENSE_CPU_RAW_F32_H_

#include <cstddef>

#include "compression/dense/cpu/block_kernels.h"

namespace skerry::compression::cpu {

struct RawF32Layout : WholeByteCodes {
  // Values of one pass of a loop. They have no blocks on the wire.
  static constexpr size_t kElements = 256;
  static constexpr size_t kScaleBytes = 0;
  static constexpr size_t kCodeBits = 32;
};

using RawF32 = BlockKernels<RawF32Layout>;

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_RAW_F32_H_
