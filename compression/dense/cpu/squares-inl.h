// compression/dense/cpu/squares-inl.h
//
// Adds the squares of a block in the order that docs/formats/codecs.md gives,
// which no vector length changes. Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_DENSE_CPU_SQUARES_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_DENSE_CPU_SQUARES_INL_H_
#undef SKERRY_COMPRESSION_DENSE_CPU_SQUARES_INL_H_
#else
#define SKERRY_COMPRESSION_DENSE_CPU_SQUARES_INL_H_
#endif

#include <cstddef>

#include "compression/dense/cpu/fold-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Sums the squares of a block, 16 values at a time, in vectors of four: to
// convert eight at once takes longer than to convert four twice.
class SquareSums {
 public:
  HWY_INLINE SquareSums()
      : sums0_(hwy::HWY_NAMESPACE::Zero(D())),
        sums4_(sums0_),
        sums8_(sums0_),
        sums12_(sums0_) {}

  HWY_INLINE void Add16(const float* HWY_RESTRICT values) {
    Add4(values, sums0_);
    Add4(values + 4, sums4_);
    Add4(values + 8, sums8_);
    Add4(values + 12, sums12_);
  }
  HWY_INLINE double Total() const {
    return Folded16(D(), sums0_, sums4_, sums8_, sums12_);
  }

 private:
  using D = hwy::HWY_NAMESPACE::Full256<double>;

  static HWY_INLINE void Add4(const float* HWY_RESTRICT values,
                              hwy::HWY_NAMESPACE::VFromD<D>& sums) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto x = hn::PromoteTo(D(), hn::LoadU(hn::Full128<float>(), values));
    // Squares of fp32 are exact, so fused or not, these are the same.
    sums = hn::MulAdd(x, x, sums);
  }

  hwy::HWY_NAMESPACE::VFromD<D> sums0_;
  hwy::HWY_NAMESPACE::VFromD<D> sums4_;
  hwy::HWY_NAMESPACE::VFromD<D> sums8_;
  hwy::HWY_NAMESPACE::VFromD<D> sums12_;
};

// The sum of squares of a block of kCount values, a multiple of 16; infinite or
// NaN when a value is.
template <size_t kCount>
HWY_INLINE double SumOfSquares(const float* HWY_RESTRICT values) {
  SquareSums squares;
  for (size_t i = 0; i < kCount; i += 16) squares.Add16(values + i);
  return squares.Total();
}
#else
// The sum of squares of a block of kCount values, a multiple of 16; infinite or
// NaN when a value is.
template <size_t kCount>
HWY_INLINE double SumOfSquares(const float* HWY_RESTRICT values) {
  namespace hn = hwy::HWY_NAMESPACE;
  // Value i goes to sum i % kSums.
  constexpr size_t kSums = 16;  // Folded16
  const hn::CappedTag<double, kSums / 2> d64;
  const hn::Rebind<float, decltype(d64)> d32;
  const size_t lanes = hn::Lanes(d64);
  HWY_ALIGN double sums[kSums];
  for (size_t j = 0; j < kSums; j += 2 * lanes) {
    auto sum0 = hn::Zero(d64);
    auto sum1 = hn::Zero(d64);
    for (size_t i = j; i < kCount; i += kSums) {
      const auto x0 = hn::PromoteTo(d64, hn::LoadU(d32, values + i));
      const auto x1 = hn::PromoteTo(d64, hn::LoadU(d32, values + i + lanes));
      // Squares of fp32 are exact, so fused or not, these are the same.
      sum0 = hn::MulAdd(x0, x0, sum0);
      sum1 = hn::MulAdd(x1, x1, sum1);
    }
    hn::StoreU(sum0, d64, sums + j);
    hn::StoreU(sum1, d64, sums + j + lanes);
  }
  return Folded16(sums);
}
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
