// compression/top_k/cpu/places-inl.h
//
// Lists the places of bits that are set, in order. Included once for each SIMD
// target, by files that ask Highway for AVX3_DL, which compresses bytes.
#if defined(SKERRY_COMPRESSION_TOP_K_CPU_PLACES_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_TOP_K_CPU_PLACES_INL_H_
#undef SKERRY_COMPRESSION_TOP_K_CPU_PLACES_INL_H_
#else
#define SKERRY_COMPRESSION_TOP_K_CPU_PLACES_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include "compression/top_k/cpu/halves-inl.h"
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
  const hn::Full128<uint8_t> quarter;
  constexpr size_t kLanes = 16;
  const size_t count = hwy::PopCount(word);
  const auto set = hn::Compress(hn::Iota(D(), 0), hn::MFromD<D>{word});
  const auto base = hn::Set(du, begin);
  const auto first =
      hn::LowerHalf(quarter, hn::LowerHalf(hn::Full256<uint8_t>(), set));
  StoreFew(du, hn::Add(hn::PromoteTo(du, first), base), count, places);
  // Where one value in sixteen is sent or fewer, this is all but always all.
  if (HWY_UNLIKELY(count > kLanes)) {
    uint8_t in_word[64];
    hn::StoreU(set, D(), in_word);
    for (size_t at = kLanes; at < count; at += kLanes) {
      const auto some = hn::LoadU(quarter, in_word + at);
      StoreHalves(du, hn::Add(hn::PromoteTo(du, some), base), places + at);
    }
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
