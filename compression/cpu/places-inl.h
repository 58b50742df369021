// compression/cpu/places-inl.h
//
// The places of bits that are set, in order. Included once for each SIMD
// target, by files that ask Highway for AVX3_DL, which compresses bytes.
#if defined(SKERRY_COMPRESSION_CPU_PLACES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_CPU_PLACES_INL_H_
#undef SKERRY_COMPRESSION_CPU_PLACES_INL_H_
#else
#define SKERRY_COMPRESSION_CPU_PLACES_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include "compression/cpu/halves-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// Writes the places of a word's bits, counted from `begin`, and may write 64;
// returns how many there are.
HWY_INLINE size_t PlacesOf(uint64_t word, uint32_t begin,
                           uint32_t* HWY_RESTRICT places) {
#if HWY_TARGET == HWY_AVX3_DL
  namespace hn = hwy::HWY_NAMESPACE;
  using D = hn::Full512<uint8_t>;
  const hn::Full512<uint32_t> du;
  constexpr size_t kLanes = 16;
  uint8_t in_word[64];
  const auto set = hn::Compress(hn::Iota(D(), 0), hn::MFromD<D>{word});
  hn::StoreU(set, D(), in_word);
  const auto base = hn::Set(du, begin);
  const auto widen = [&](size_t at) HWY_ATTR {
    const auto some = hn::LoadU(hn::Full128<uint8_t>(), in_word + at);
    StoreHalves(du, hn::Add(hn::PromoteTo(du, some), base), places + at);
  };
  const size_t count = hwy::PopCount(word);
  // How many vectors it takes, few processors could predict.
  widen(0);
  widen(kLanes);
  if (HWY_UNLIKELY(count > 2 * kLanes)) {
    widen(2 * kLanes);
    widen(3 * kLanes);
  }
  return count;
#else
  size_t count = 0;
  for (; word != 0; word &= word - 1) {
    places[count++] = begin + static_cast<uint32_t>(std::countr_zero(word));
  }
  return count;
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
