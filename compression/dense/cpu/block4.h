// compression/dense/cpu/block4.h
//
// Implements the 4-bit codecs. 64 values share a scale, and each becomes the
// nearest of 16 multiples of the scale. The levels are those of NF4 (quantiles
// of a normal distribution) or of E3M0 (a sign and powers of two). The scale is
// the block's largest magnitude, in fp32 or in bf16 rounded up.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_BLOCK4_H_
#define SKERRY_COMPRESSION_DENSE_CPU_BLOCK4_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compression/dense/cpu/block_kernels.h"

namespace skerry::compression::cpu {

enum class Levels4 { kNf4, kE3m0 };
enum class Scale4 { kF32, kBf16 };

// Blocks whose largest magnitude is below this are zero on the wire; all other
// scales are at least this, and finite. Code 8 of E3M0, its minus zero, is
// refused.
inline constexpr float kBlock4ScaleMin = 0x1p-100f;

template <Levels4 kLevels, Scale4 kScale>
struct Block4Layout {
  using Scale = std::conditional_t<kScale == Scale4::kF32, uint32_t, uint16_t>;
  static constexpr size_t kElements = 64;
  static constexpr size_t kScaleBytes = sizeof(Scale);
  static constexpr size_t kCodeBits = 4;

  // The first of two codes is in the low half.
  static constexpr unsigned BehindMask(size_t elements) {
    return elements % 2 == 0 ? 0 : 0xf0;
  }
};

using Nf4 = BlockKernels<Block4Layout<Levels4::kNf4, Scale4::kBf16>>;
using Nf4F32 = BlockKernels<Block4Layout<Levels4::kNf4, Scale4::kF32>>;
using E3m0 = BlockKernels<Block4Layout<Levels4::kE3m0, Scale4::kBf16>>;
using E3m0F32 = BlockKernels<Block4Layout<Levels4::kE3m0, Scale4::kF32>>;

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_BLOCK4_H_
