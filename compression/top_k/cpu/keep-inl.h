// compression/top_k/cpu/keep-inl.h
//
// Keeps values that reach a magnitude, and their places. Magnitudes are
// compared as in compression/top_k/cpu/select.h. Included once for each SIMD
// target.
#if defined(SKERRY_COMPRESSION_TOP_K_CPU_KEEP_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_TOP_K_CPU_KEEP_INL_H_
#undef SKERRY_COMPRESSION_TOP_K_CPU_KEEP_INL_H_
#else
#define SKERRY_COMPRESSION_TOP_K_CPU_KEEP_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "compression/top_k/cpu/halves-inl.h"
#include "compression/top_k/cpu/select.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// Writes the values of at least `bits` and moves their places to the front.
// Returns how many there are. Prefetches `kAhead` values ahead, unless that is
// 0.
template <size_t kAhead = 0>
HWY_INLINE size_t KeepAll(const float* HWY_RESTRICT values, size_t count,
                          uint32_t bits, uint32_t* places,
                          float* HWY_RESTRICT kept) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToUnsigned<decltype(di)> du;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  // As a signed number, 2^31 - 1 is above every magnitude and -1 below.
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  size_t out = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    if constexpr (kAhead > 0) hwy::Prefetch(values + i + kAhead);
    const auto value = hn::LoadU(df, values + i);
    const auto place = hn::LoadU(du, places + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto keep = hn::Gt(size, below);
    StoreHalves(df, hn::Compress(value, hn::RebindMask(df, keep)), kept + out);
    // Behind what is read already, as no more is written than was read.
    StoreHalves(du, hn::Compress(place, hn::RebindMask(du, keep)),
                places + out);
    out += hn::CountTrue(di, keep);
  }
  for (; i < count; ++i) {
    if (MagnitudeBits(values[i]) < bits) continue;
    places[out] = places[i];
    kept[out++] = values[i];
  }
  return out;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
