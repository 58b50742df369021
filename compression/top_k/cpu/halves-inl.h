// compression/top_k/cpu/halves-inl.h
//
// Stores whole vectors at any address. If a vector is as long as a cache line,
// it stores half a vector at a time: at most addresses a store of 64 bytes
// would cross a line, which costs as much as several stores that do not.
// Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_TOP_K_CPU_HALVES_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_TOP_K_CPU_HALVES_INL_H_
#undef SKERRY_COMPRESSION_TOP_K_CPU_HALVES_INL_H_
#else
#define SKERRY_COMPRESSION_TOP_K_CPU_HALVES_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// All lanes.
template <class D, class V, typename T>
HWY_INLINE void StoreHalves(D d, V lanes, T* to) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const hn::Half<D> half;
  hn::StoreU(hn::LowerHalf(half, lanes), half, to);
  hn::StoreU(hn::UpperHalf(half, lanes), half, to + hn::Lanes(half));
#else
  hn::StoreU(lanes, d, to);
#endif
}

// The first `count`, and maybe others: for counts that are mostly small.
template <class D, class V, typename T>
HWY_INLINE void StoreFew(D d, V lanes, size_t count, T* to) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const hn::Half<D> half;
  hn::StoreU(hn::LowerHalf(half, lanes), half, to);
  if (HWY_LIKELY(count <= hn::Lanes(half))) return;
  hn::StoreU(hn::UpperHalf(half, lanes), half, to + hn::Lanes(half));
#else
  hn::StoreU(lanes, d, to);
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
