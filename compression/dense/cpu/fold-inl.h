// compression/dense/cpu/fold-inl.h
//
// Adds up partial sums, always the second half to the first, so that the result
// does not depend on the length of vectors. Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_DENSE_CPU_FOLD_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_DENSE_CPU_FOLD_INL_H_
#undef SKERRY_COMPRESSION_DENSE_CPU_FOLD_INL_H_
#else
#define SKERRY_COMPRESSION_DENSE_CPU_FOLD_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// Adds sums[i + kHalf] to sums[i].
template <size_t kHalf>
HWY_INLINE void FoldHalf(double* HWY_RESTRICT sums) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<double, kHalf> d64;
  for (size_t i = 0; i < kHalf; i += hn::Lanes(d64)) {
    const auto second = hn::LoadU(d64, sums + i + kHalf);
    hn::StoreU(hn::Add(hn::LoadU(d64, sums + i), second), d64, sums + i);
  }
}

// Returns the sum of 16 sums, which it overwrites.
HWY_INLINE double Folded16(double* HWY_RESTRICT sums) {
  FoldHalf<8>(sums);
  FoldHalf<4>(sums);
  FoldHalf<2>(sums);
  FoldHalf<1>(sums);
  return sums[0];
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Returns the same for sums in four vectors, in order.
template <class D, class V>
HWY_INLINE double Folded16(D d64, V sums0, V sums4, V sums8, V sums12) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Half<D> half;
  const V four = hn::Add(hn::Add(sums0, sums8), hn::Add(sums4, sums12));
  const auto two =
      hn::Add(hn::LowerHalf(half, four), hn::UpperHalf(half, four));
  return hn::GetLane(two) + hn::ExtractLane(two, 1);
}
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
