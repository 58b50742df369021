// compression/dense/cpu/sums-inl.h
//
// Adds terms of the values of a block, such as their squares, in the order that
// docs/formats/codecs.md gives, which no vector length changes. Included once
// for each SIMD target.
#if defined(SKERRY_COMPRESSION_DENSE_CPU_SUMS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_DENSE_CPU_SUMS_INL_H_
#undef SKERRY_COMPRESSION_DENSE_CPU_SUMS_INL_H_
#else
#define SKERRY_COMPRESSION_DENSE_CPU_SUMS_INL_H_
#endif

#include <cstddef>

#include "compression/dense/cpu/fold-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// A term of a sum of squares. Squares of fp32 are exact in float64, so fused or
// not, these are the same.
struct Square {
  template <class V>
  HWY_INLINE V operator()(V x, V sum) const {
    return hwy::HWY_NAMESPACE::MulAdd(x, x, sum);
  }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Sums terms of a block, 16 values at a time, in vectors of four: to convert
// eight at once takes longer than to convert four twice.
template <class Term>
class TermSums {
 public:
  HWY_INLINE explicit TermSums(const Term& term)
      : term_(term),
        sums0_(hwy::HWY_NAMESPACE::Zero(D())),
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

  HWY_INLINE void Add4(const float* HWY_RESTRICT values,
                       hwy::HWY_NAMESPACE::VFromD<D>& sums) const {
    namespace hn = hwy::HWY_NAMESPACE;
    sums = term_(hn::PromoteTo(D(), hn::LoadU(hn::Full128<float>(), values)),
                 sums);
  }

  const Term term_;
  hwy::HWY_NAMESPACE::VFromD<D> sums0_;
  hwy::HWY_NAMESPACE::VFromD<D> sums4_;
  hwy::HWY_NAMESPACE::VFromD<D> sums8_;
  hwy::HWY_NAMESPACE::VFromD<D> sums12_;
};

// The sum of term(value, sum) over a block of kCount values, a multiple of 16.
template <size_t kCount, class Term>
HWY_INLINE double SumOf(const float* HWY_RESTRICT values, const Term& term) {
  TermSums<Term> sums(term);
  for (size_t i = 0; i < kCount; i += 16) sums.Add16(values + i);
  return sums.Total();
}
#else
// The sum of term(value, sum) over a block of kCount values, a multiple of 16.
template <size_t kCount, class Term>
HWY_INLINE double SumOf(const float* HWY_RESTRICT values, const Term& term) {
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
      sum0 = term(x0, sum0);
      sum1 = term(x1, sum1);
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
