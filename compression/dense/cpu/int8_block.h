// compression/dense/cpu/int8_block.h
//
// Implements CodecId::kInt8Block: 256 values share the scale absmax / 127, and
// each becomes the nearest of 255 multiples of it.
//
// All arithmetic stays among normal fp32 numbers, because a block whose absmax
// is below 2^-100 gets scale 0 and codes 0. So threads or devices that flush
// subnormals agree with those that do not.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_INT8_BLOCK_H_
#define SKERRY_COMPRESSION_DENSE_CPU_INT8_BLOCK_H_

#include <algorithm>
#include <cstddef>

#include "compression/dense/cpu/block_kernels.h"

namespace skerry::compression::cpu {

struct Int8BlockLayout : WholeByteCodes {
  static constexpr size_t kElements = 256;
  static constexpr size_t kScaleBytes = sizeof(float);
  static constexpr size_t kCodeBits = 8;

  // Blocks below this absmax are zero on the wire.
  static constexpr float kAbsMaxMin = 0x1p-100f;
  // Scales that a decoder takes beside 0. The lower bound is that of
  // kAbsMaxMin / 127; 127 times the upper one is finite. The code -128 is
  // refused.
  static constexpr float kScaleMin = 0x1p-107f;
  static constexpr float kScaleMax = 0x1.020406p+121f;

  // What a block is written with whose largest magnitude is a finite `absmax`:
  // a code is the integer nearest to value * inverse.
  struct Scale {
    float scale;
    float inverse;
  };
  static Scale ScaleOf(float absmax) {
    if (absmax < kAbsMaxMin) return {0.0f, 0.0f};
    return {std::min(absmax / 127.0f, kScaleMax), 127.0f / absmax};
  }
  // Also false for NaN. Minus zero passes: it decodes to zeros.
  static bool IsScale(float scale) {
    return scale == 0.0f || (scale >= kScaleMin && scale <= kScaleMax);
  }
};

using Int8Block = BlockKernels<Int8BlockLayout>;

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_INT8_BLOCK_H_
