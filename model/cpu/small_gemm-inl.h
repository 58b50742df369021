// model/cpu/small_gemm-inl.h
//
// C (+)= A B for the small matrices inside one attention head, where a
// library call costs more than the product. Included once for each SIMD
// target, inside its namespace rules.
#if defined(SKERRY_MODEL_CPU_SMALL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_MODEL_CPU_SMALL_GEMM_INL_H_
#undef SKERRY_MODEL_CPU_SMALL_GEMM_INL_H_
#else
#define SKERRY_MODEL_CPU_SMALL_GEMM_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace {

// A is read one float at a time: element (i, k) at a[i * a_row + k * a_depth],
// so it may be transposed. B and C are row-major with n floats in use.
struct SmallGemm {
  const float* a;
  size_t a_row;
  size_t a_depth;
  const float* b;
  size_t b_stride;
  float* c;
  size_t c_stride;
};

// kRows x kVectors vectors of C stay in registers over the depth.
template <int kRows, int kVectors, bool kAccumulate>
HWY_INLINE void SmallGemmTile(const SmallGemm& g, size_t row, size_t column,
                              size_t depth) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sum[kRows][kVectors];
  float* HWY_RESTRICT c = g.c + row * g.c_stride + column;
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = kAccumulate ? hn::LoadU(d, c + r * g.c_stride + v * lanes)
                              : hn::Zero(d);
    }
  }
  const float* HWY_RESTRICT a = g.a + row * g.a_row;
  const float* HWY_RESTRICT b = g.b + column;
  for (size_t k = 0; k < depth; ++k) {
    hn::Vec<decltype(d)> line[kVectors];
    for (int v = 0; v < kVectors; ++v) line[v] = hn::LoadU(d, b + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const auto x = hn::Set(d, a[r * g.a_row]);
      for (int v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(x, line[v], sum[r][v]);
      }
    }
    a += g.a_depth;
    b += g.b_stride;
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sum[r][v], d, c + r * g.c_stride + v * lanes);
    }
  }
}

template <int kVectors, bool kAccumulate>
HWY_INLINE void SmallGemmColumns(const SmallGemm& g, size_t m, size_t column,
                                 size_t depth) {
  size_t row = 0;
  for (; row + 4 <= m; row += 4) {
    SmallGemmTile<4, kVectors, kAccumulate>(g, row, column, depth);
  }
  for (; row < m; ++row) {
    SmallGemmTile<1, kVectors, kAccumulate>(g, row, column, depth);
  }
}

// C is m x n, n a multiple of the vector's lanes.
template <bool kAccumulate>
HWY_INLINE void MultiplySmall(const SmallGemm& g, size_t m, size_t n,
                              size_t depth) {
  namespace hn = hwy::HWY_NAMESPACE;
  const size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  size_t column = 0;
  for (; column + 2 * lanes <= n; column += 2 * lanes) {
    SmallGemmColumns<2, kAccumulate>(g, m, column, depth);
  }
  for (; column < n; column += lanes) {
    SmallGemmColumns<1, kAccumulate>(g, m, column, depth);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::model::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
