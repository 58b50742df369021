#include "compression/cpu/select.h"

#include <algorithm>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/select.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/cpu/halves-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// An eighth of an octave, in patterns: how far below one chunk's threshold the
// next is looked for.
constexpr uint32_t kGuessMargin = 1u << 20;

// What arrays that CollectAll writes have beyond the values it is given.
constexpr size_t kCollectSlack = 64;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr bool kCompresses = true;
#else
constexpr bool kCompresses = false;
#endif

size_t CountAll(const float* HWY_RESTRICT values, size_t count, uint32_t bits) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  // As a signed number, 2^31 - 1 is above every magnitude and -1 below.
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  size_t found = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto pattern = hn::BitCast(di, hn::LoadU(df, values + i));
    const auto size = hn::And(pattern, magnitude);
    found += hn::CountTrue(di, hn::Gt(size, below));
  }
  for (; i < count; ++i) found += MagnitudeBits(values[i]) >= bits ? 1 : 0;
  return found;
}

size_t CollectAll(const float* HWY_RESTRICT values, size_t count, uint32_t bits,
                  uint32_t first, uint32_t* HWY_RESTRICT places,
                  float* HWY_RESTRICT kept) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToUnsigned<decltype(di)> du;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  const auto step = hn::Set(du, static_cast<uint32_t>(lanes));
  auto place = hn::Iota(du, first);
  size_t found = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto reaches = hn::Gt(size, below);
    // Where compressing is one instruction, it is quicker than a branch that
    // nobody can predict.
    if (kCompresses || !hn::AllFalse(di, reaches)) {
      const size_t reached = hn::CountTrue(di, reaches);
      // Some processors compress to memory slowly.
      StoreFew(df, hn::Compress(value, hn::RebindMask(df, reaches)), reached,
               kept + found);
      StoreFew(du, hn::Compress(place, hn::RebindMask(du, reaches)), reached,
               places + found);
      found += reached;
    }
    place = hn::Add(place, step);
  }
  for (; i < count; ++i) {
    if (MagnitudeBits(values[i]) < bits) continue;
    places[found] = first + static_cast<uint32_t>(i);
    kept[found++] = values[i];
  }
  return found;
}

size_t KeepAll(uint32_t bits, size_t count, uint32_t* HWY_RESTRICT places,
               float* HWY_RESTRICT kept) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToUnsigned<decltype(di)> du;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  size_t out = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, kept + i);
    const auto place = hn::LoadU(du, places + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto reaches = hn::Gt(size, below);
    // Behind what is read already, as no more is written than was read.
    StoreHalves(df, hn::Compress(value, hn::RebindMask(df, reaches)),
                kept + out);
    StoreHalves(du, hn::Compress(place, hn::RebindMask(du, reaches)),
                places + out);
    out += hn::CountTrue(di, reaches);
  }
  for (; i < count; ++i) {
    if (MagnitudeBits(kept[i]) < bits) continue;
    places[out] = places[i];
    kept[out++] = kept[i];
  }
  return out;
}

// The k-th largest magnitude, which is at least `low`, by halving; if not
// `exact`, one between it and the next as soon as there is one.
uint32_t KthFrom(const float* HWY_RESTRICT values, size_t count, size_t k,
                 uint32_t low, bool exact) {
  uint32_t step = 1;
  uint32_t high = low;
  while (true) {
    high = low + step;
    const size_t reach = CountAll(values, count, high);
    if (reach < k) break;
    if (reach == k && !exact) return high - 1;
    low = high;
    step = std::min(step == 1 ? kGuessMargin : 2 * step, 0x80000000u - low);
  }
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    const size_t reach = CountAll(values, count, middle);
    if (reach == k && !exact) return middle - 1;
    (reach >= k ? low : high) = middle;
  }
  return low;
}

bool SelectChunkAll(const float* HWY_RESTRICT values, size_t count, size_t k,
                    uint32_t* guess, uint32_t* HWY_RESTRICT places,
                    float* HWY_RESTRICT kept) {
  uint32_t near_places[kChunkElements + kCollectSlack];
  float near_values[kChunkElements + kCollectSlack];
  uint32_t low = *guess;
  size_t found = CollectAll(values, count, low, 0, near_places, near_values);
  for (uint32_t step = kGuessMargin; found < k; step *= 2) {
    low -= std::min(step, low);
    found = CollectAll(values, count, low, 0, near_places, near_values);
  }
  // Zeros to whole vectors, which reach no magnitude that is asked for.
  const hn::ScalableTag<float> df;
  const size_t lanes = hn::Lanes(df);
  hn::StoreU(hn::Zero(df), df, near_values + found);
  const size_t whole = (found + lanes - 1) / lanes * lanes;
  if (CountAll(near_values, whole, kInfinityBits) > 0) return false;
  const bool all = found == k;
  const uint32_t dividing =
      all ? low : KthFrom(near_values, whole, k, low, /*exact=*/false);
  size_t ties = all ? 0 : k - CountAll(near_values, whole, dividing + 1);
  *guess = dividing - std::min(dividing, kGuessMargin);
  if (ties == 0) {
    if (!all) KeepAll(dividing + 1, found, near_places, near_values);
    std::copy_n(near_places, k, places);
    std::copy_n(near_values, k, kept);
  } else {
    size_t out = 0;
    for (size_t i = 0; i < found; ++i) {
      const uint32_t size = MagnitudeBits(near_values[i]);
      if (size < dividing) continue;
      if (size == dividing) {
        if (ties == 0) continue;
        --ties;
      }
      places[out] = near_places[i];
      kept[out++] = near_values[i];
    }
  }
  return true;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {
namespace {

HWY_EXPORT(CountAll);
HWY_EXPORT(KthFrom);
HWY_EXPORT(SelectChunkAll);

}  // namespace

bool AllFinite(std::span<const float> values) {
  return CountAtLeast(values, kInfinityBits) == 0;
}

size_t CountAtLeast(std::span<const float> values, uint32_t bits) {
  return HWY_DYNAMIC_DISPATCH(CountAll)(values.data(), values.size(), bits);
}

uint32_t KthLargestMagnitude(std::span<const float> values, size_t k,
                             uint32_t hint) {
  SKERRY_CHECK(k >= 1 && k <= values.size());
  const bool below = CountAtLeast(values, hint) >= k;
  return HWY_DYNAMIC_DISPATCH(KthFrom)(values.data(), values.size(), k,
                                       below ? hint : 0, /*exact=*/true);
}

uint32_t DividingMagnitude(std::span<const float> values, size_t k,
                           uint32_t hint) {
  SKERRY_CHECK(k >= 1 && k <= values.size());
  const bool below = CountAtLeast(values, hint) >= k;
  return HWY_DYNAMIC_DISPATCH(KthFrom)(values.data(), values.size(), k,
                                       below ? hint : 0, /*exact=*/false);
}

bool SelectChunk(std::span<const float> values, size_t k, uint32_t& guess,
                 uint32_t* places, float* kept) {
  SKERRY_CHECK(k >= 1 && k <= values.size());
  SKERRY_CHECK(values.size() <= kChunkElements);
  return HWY_DYNAMIC_DISPATCH(SelectChunkAll)(values.data(), values.size(), k,
                                              &guess, places, kept);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
