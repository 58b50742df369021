// model/cpu/gemm_bf16_kernel.h
//
// The parts of a bf16 product that need the processor's dot product of bf16
// pairs: rounding fp32 operands into panels, and computing one tile of the
// result. A panel has one 32-bit word for each lane and each pair of neighbours
// along the depth of the product. An odd depth is followed by a zero.
#ifndef SKERRY_MODEL_CPU_GEMM_BF16_KERNEL_H_
#define SKERRY_MODEL_CPU_GEMM_BF16_KERNEL_H_

#include <cstddef>
#include <cstdint>

namespace skerry::model::cpu {

// Lanes of a panel of A and of B: rows and columns of a tile.
inline constexpr size_t kBf16Rows = 14;
inline constexpr size_t kBf16Columns = 32;

// Whether the functions below may be called here.
bool HasBf16Dot();

// A part of an operand: `lanes` by `depth` floats, `stride` floats from one to
// the next along the lanes or, where the operand lies the other way, along the
// depth.
struct Bf16Source {
  const float* data;
  size_t stride;
  size_t lanes;
  size_t depth;
};

// Rounds to the nearest bf16, to the even one of two, and flushes what is too
// small to be normal. Panels are `width` words wide; lanes behind the source's
// are zeros. The first lies as rows along the depth, the second across it.
void PackBf16Along(const Bf16Source& from, size_t width, uint32_t* panel);
void PackBf16Across(const Bf16Source& from, size_t width, uint32_t* panel);

// C (+)= A B for up to kBf16Rows x kBf16Columns of C; sums are fp32.
struct Bf16Tile {
  const uint32_t* a;
  const uint32_t* b;
  size_t pairs;
  size_t rows;
  size_t columns;
  float* c;
  size_t c_stride;
  bool adds;
};
void MultiplyBf16Tile(const Bf16Tile& tile);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_GEMM_BF16_KERNEL_H_
