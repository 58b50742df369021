// compression/dense/cpu/lloyd2.h
//
// Implements CodecId::kLloyd2: two bits a value, and the root mean square of
// the 256 values that share a scale. The four levels are those of the quantizer
// that loses least of a normal distribution (S. P. Lloyd, "Least squares
// quantization in PCM", 1982; J. Max, "Quantizing for minimum distortion",
// 1960, table I). Without error feedback two bits lose a third of what they are
// given.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_LLOYD2_H_
#define SKERRY_COMPRESSION_DENSE_CPU_LLOYD2_H_

#include <cstddef>

#include "compression/dense/cpu/block_kernels.h"

namespace skerry::compression::cpu {

// Magnitudes of the levels, and the magnitude from which on the outer one is
// nearer, in units of the scale.
inline constexpr float kLloyd2Inner = 0.4528f;
inline constexpr float kLloyd2Outer = 1.5104f;
inline constexpr float kLloyd2Midpoint = 0.9816f;
// Scales are at most this, so that every level is finite.
inline constexpr float kLloyd2ScaleMax = 0x1p127f;

struct Lloyd2Layout {
  static constexpr size_t kElements = 256;
  static constexpr size_t kScaleBytes = sizeof(float);
  static constexpr size_t kCodeBits = 2;

  // The first of four codes is in the lowest bits.
  static constexpr unsigned BehindMask(size_t elements) {
    return elements % 4 == 0 ? 0 : 0xffu & (0xffu << (2 * (elements % 4)));
  }
};

using Lloyd2 = BlockKernels<Lloyd2Layout>;

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_LLOYD2_H_
