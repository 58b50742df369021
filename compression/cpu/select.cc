#include "compression/cpu/select.h"

#include <algorithm>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/select.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/cpu/halves-inl.h"
#include "compression/cpu/marks-inl.h"
#include "compression/cpu/places-inl.h"
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

// More values of a chunk are copied by whole vectors.
constexpr size_t kOneByOneMost = 768;

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

// Copies magnitudes of at least `bits`, and their places; returns how many.
// Marks them first, which memory can keep up with, and asks for the next chunk
// while it is busy with places.
size_t CollectAll(const float* HWY_RESTRICT values, size_t count, uint32_t bits,
                  uint32_t* HWY_RESTRICT places, float* HWY_RESTRICT copy) {
  uint64_t words[kChunkElements / kMarkedValues];
  MarkAll(values, count, bits, words);
  size_t found = 0;
  for (size_t begin = 0; begin < count; begin += kMarkedValues) {
    PrefetchWord(values + kChunkElements + begin);
    found += PlacesOf(words[begin / kMarkedValues],
                      static_cast<uint32_t>(begin), places + found);
  }
  if (found <= kOneByOneMost) {
    for (size_t i = 0; i < found; ++i) copy[i] = values[places[i]];
    return found;
  }
  size_t copied = 0;
  size_t begin = 0;
  for (; begin + kMarkedValues <= count; begin += kMarkedValues) {
    copied +=
        CopyWord(values + begin, words[begin / kMarkedValues], copy + copied);
  }
  for (; copied < found; ++copied) copy[copied] = values[places[copied]];
  return found;
}

// Keeps values of at least `bits`, and their places, which stay where they are;
// returns how many.
size_t KeepAll(const float* HWY_RESTRICT values, size_t count, uint32_t bits,
               uint32_t* places, float* HWY_RESTRICT kept) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToUnsigned<decltype(di)> du;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  size_t out = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, values + i);
    const auto place = hn::LoadU(du, places + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto reaches = hn::Gt(size, below);
    StoreHalves(df, hn::Compress(value, hn::RebindMask(df, reaches)),
                kept + out);
    // Behind what is read already, as no more is written than was read.
    StoreHalves(du, hn::Compress(place, hn::RebindMask(du, reaches)),
                places + out);
    out += hn::CountTrue(di, reaches);
  }
  for (; i < count; ++i) {
    if (MagnitudeBits(values[i]) < bits) continue;
    places[out] = places[i];
    kept[out++] = values[i];
  }
  return out;
}

// What is known of magnitudes: how many are at least `low`, and at least
// `high`.
struct Bracket {
  uint32_t low;
  uint32_t high;
  size_t reach_low;
  size_t reach_high;
};

// The k-th largest magnitude; if not `exact`, one between it and the next as
// soon as there is one. Looks where it were if those in between were spread
// evenly, and in the middle each second time, lest they are not. Requires:
// reach_low >= k > reach_high.
uint32_t KthWithin(const float* HWY_RESTRICT values, size_t count, size_t k,
                   Bracket in, bool exact) {
  for (bool even = true; in.high - in.low > 1; even = !even) {
    const uint32_t width = in.high - in.low;
    uint32_t step = width / 2;
    if (even) {
      const double less = static_cast<double>(in.reach_low - k) + 0.5;
      const auto all = static_cast<double>(in.reach_low - in.reach_high);
      step = static_cast<uint32_t>(width * (less / all));
      step = std::clamp<uint32_t>(step, 1, width - 1);
    }
    const uint32_t middle = in.low + step;
    const size_t reach = CountAll(values, count, middle);
    if (reach == k && !exact) return middle - 1;
    if (reach >= k) {
      in.low = middle;
      in.reach_low = reach;
    } else {
      in.high = middle;
      in.reach_high = reach;
    }
  }
  return in.low;
}

// As KthWithin, where only those of at least `low` are known, k or more.
uint32_t KthFrom(const float* HWY_RESTRICT values, size_t count, size_t k,
                 uint32_t low, size_t reach_low, bool exact) {
  for (uint32_t step = 1;;) {
    const uint32_t high = low + step;
    const size_t reach = CountAll(values, count, high);
    if (reach < k) {
      return KthWithin(values, count, k, {low, high, reach_low, reach}, exact);
    }
    if (reach == k && !exact) return high - 1;
    low = high;
    reach_low = reach;
    step = std::min(step == 1 ? kGuessMargin : 2 * step, 0x80000000u - low);
  }
}

// Copies magnitudes of [low, high); returns how many. `above` are those from
// `high` on, `most` is the largest of all.
size_t CopyBetween(const float* HWY_RESTRICT values, size_t count, uint32_t low,
                   uint32_t high, float* HWY_RESTRICT copy, size_t* above,
                   uint32_t* most) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto below = hn::Set(di, static_cast<int32_t>(low - 1));
  const auto last = hn::Set(di, static_cast<int32_t>(high - 1));
  auto largest = hn::Zero(di);
  size_t out = 0;
  size_t over = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto exceeds = hn::Gt(size, last);
    const auto between = hn::AndNot(exceeds, hn::Gt(size, below));
    largest = hn::Max(largest, size);
    const size_t few = hn::CountTrue(di, between);
    StoreFew(df, hn::Compress(value, hn::RebindMask(df, between)), few,
             copy + out);
    out += few;
    over += hn::CountTrue(di, exceeds);
  }
  *most = static_cast<uint32_t>(hn::GetLane(hn::MaxOfLanes(di, largest)));
  for (; i < count; ++i) {
    const uint32_t size = MagnitudeBits(values[i]);
    *most = std::max(*most, size);
    over += size >= high ? 1 : 0;
    if (size >= low && size < high) copy[out++] = values[i];
  }
  *above = over;
  return out;
}

// Of `found` values from `bits` on, keeps those above and the first `ties`
// equal ones.
void KeepTies(const float* HWY_RESTRICT values, size_t found, uint32_t bits,
              size_t ties, uint32_t* places, float* HWY_RESTRICT kept) {
  size_t out = 0;
  for (size_t i = 0; i < found; ++i) {
    const uint32_t size = MagnitudeBits(values[i]);
    if (size < bits) continue;
    if (size == bits) {
      if (ties == 0) continue;
      --ties;
    }
    places[out] = places[i];
    kept[out++] = values[i];
  }
}

bool SelectChunkAll(const float* HWY_RESTRICT values, size_t count, size_t k,
                    uint32_t* guess, uint32_t* HWY_RESTRICT places,
                    float* HWY_RESTRICT kept) {
  float near_values[kChunkElements + kChunkSlack];
  float band[kChunkElements + kChunkSlack];
  uint32_t low = std::min(*guess, kInfinityBits);
  uint32_t high = low + 2 * kGuessMargin;
  size_t found = CollectAll(values, count, low, places, near_values);
  for (uint32_t step = kGuessMargin; found < k; step *= 2) {
    high = low;
    low -= std::min(step, low);
    found = CollectAll(values, count, low, places, near_values);
  }
  size_t above;
  uint32_t most;
  size_t banded =
      CopyBetween(near_values, found, low, high, band, &above, &most);
  if (most >= kInfinityBits) return false;
  uint32_t dividing = low;
  size_t ties = 0;
  if (found > k) {
    if (above >= k) {
      dividing = KthFrom(near_values, found, k, high, above, /*exact=*/false);
      ties = k - CountAll(near_values, found, dividing + 1);
    } else {
      // Zeros to whole vectors, which reach no magnitude that is asked for.
      std::fill_n(band + banded, kChunkSlack / 2, 0.0f);
      banded = (banded + kChunkSlack / 2 - 1) & ~(kChunkSlack / 2 - 1);
      const Bracket bracket = {low, high, found - above, 0};
      dividing = KthWithin(band, banded, k - above, bracket, /*exact=*/false);
      ties = k - above - CountAll(band, banded, dividing + 1);
    }
  }
  *guess = dividing - std::min(dividing, kGuessMargin);
  if (found == k) {
    std::copy_n(near_values, k, kept);
  } else if (ties == 0) {
    KeepAll(near_values, found, dividing + 1, places, kept);
  } else {
    KeepTies(near_values, found, dividing, ties, places, kept);
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
  const size_t reach = CountAtLeast(values, hint);
  const bool below = reach >= k;
  return HWY_DYNAMIC_DISPATCH(KthFrom)(
      values.data(), values.size(), k, below ? hint : 0,
      below ? reach : values.size(), /*exact=*/true);
}

uint32_t DividingMagnitude(std::span<const float> values, size_t k,
                           uint32_t hint) {
  SKERRY_CHECK(k >= 1 && k <= values.size());
  const size_t reach = CountAtLeast(values, hint);
  const bool below = reach >= k;
  return HWY_DYNAMIC_DISPATCH(KthFrom)(
      values.data(), values.size(), k, below ? hint : 0,
      below ? reach : values.size(), /*exact=*/false);
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
