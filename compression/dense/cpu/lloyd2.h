// compression/dense/cpu/lloyd2.h
//
// Implements CodecId::kLloyd2: two bits a value. The four levels are those of
// the quantizer that loses least of a normal distribution (S. P. Lloyd, "Least
// squares quantization in PCM", 1982; J. Max, "Quantizing for minimum
// distortion", 1960, table I), fitted to the root mean square of 256 values.
// The scale that these share is then the best one for the levels that they got,
// so that no block errs by more than it has. Without error feedback two bits
// lose a third of what they are given.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_LLOYD2_H_
#define SKERRY_COMPRESSION_DENSE_CPU_LLOYD2_H_

#include <cstddef>

#include "compression/dense/cpu/block_kernels.h"
#include "compression/dense/cpu/rms.h"

namespace skerry::compression::cpu {

// Magnitudes of the levels, in units of the scale.
inline constexpr float kLloyd2Inner = 0.4528f;
inline constexpr float kLloyd2Outer = 1.5104f;
// The magnitude above which a value gets the outer level, in units of the root
// mean square.
inline constexpr float kLloyd2Midpoint = 0.9816f;
// Scales are at most this, so that every level is finite.
inline constexpr float kLloyd2ScaleMax = 0x1.52p127f;

// The scale whose levels are nearest to `size` values, of which `outer` have
// the outer level, by least squares. `products` is the sum of each magnitude
// times its level's.
inline float Lloyd2Scale(double products, size_t size, size_t outer) {
  constexpr double kInner = double{kLloyd2Inner} * kLloyd2Inner;
  constexpr double kOuter = double{kLloyd2Outer} * kLloyd2Outer;
  const double scale = products / (static_cast<double>(size - outer) * kInner +
                                   static_cast<double>(outer) * kOuter);
  if (scale < kRmsScaleMin) return 0.0f;
  return scale < kLloyd2ScaleMax ? static_cast<float>(scale) : kLloyd2ScaleMax;
}

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
