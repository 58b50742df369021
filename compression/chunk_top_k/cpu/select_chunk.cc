#include "compression/chunk_top_k/cpu/select_chunk.h"

#include <algorithm>

#include "base/check.h"
#include "compression/top_k/cpu/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/chunk_top_k/cpu/select_chunk.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/chunk_top_k/cpu/next_chunk-inl.h"
#include "compression/top_k/cpu/halves-inl.h"
#include "compression/top_k/cpu/keep-inl.h"
#include "compression/top_k/cpu/kth-inl.h"
#include "compression/top_k/cpu/marks-inl.h"
#include "compression/top_k/cpu/places-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// More values of a chunk are copied by whole vectors.
constexpr size_t kOneByOneMost = 768;

// Copies magnitudes of at least `bits`, and their places; returns how many.
// Marks them first.
size_t CollectAll(const float* HWY_RESTRICT values, size_t count, uint32_t bits,
                  NextChunk& next, uint32_t* HWY_RESTRICT places,
                  float* HWY_RESTRICT copy) {
  uint64_t words[kChunkElements / kMarkedValues];
  const auto ask = [&](const float*) HWY_ATTR { next.Ask(1); };
  MarkAll(values, count, bits, ask, words);
  size_t found = 0;
  for (size_t begin = 0; begin < count; begin += kMarkedValues) {
    next.Ask(1);
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

// Copies the magnitudes above `bits`, and the first `ties` that equal it, to
// `kept`, and moves their places to the front.
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
  NextChunk next(values);
  size_t found = CollectAll(values, count, low, next, places, near_values);
  for (uint32_t step = kGuessMargin; found < k; step *= 2) {
    high = low;
    low -= std::min(step, low);
    found = CollectAll(values, count, low, next, places, near_values);
  }
  next.Ask(64);
  size_t above;
  uint32_t most;
  size_t banded =
      CopyBetween(near_values, found, low, high, band, &above, &most);
  if (most >= kInfinityBits) return false;
  uint32_t dividing = low;
  size_t ties = 0;
  if (found > k) {
    if (above >= k) {
      const Dividing kth =
          KthFrom(near_values, found, k, high, above, /*exact=*/false);
      dividing = kth.magnitude;
      ties = k - kth.above;
    } else {
      // Zeros to whole vectors, which reach no magnitude that is asked for.
      std::fill_n(band + banded, kChunkSlack / 2, 0.0f);
      banded = (banded + kChunkSlack / 2 - 1) & ~(kChunkSlack / 2 - 1);
      const Bracket bracket = {low, high, found - above, 0};
      const Dividing kth =
          KthWithin(band, banded, k - above, bracket, /*exact=*/false);
      dividing = kth.magnitude;
      ties = k - above - kth.above;
    }
  }
  next.Ask(64);
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

HWY_EXPORT(SelectChunkAll);

bool SelectChunk(std::span<const float> values, size_t k, uint32_t& guess,
                 uint32_t* places, float* kept) {
  SKERRY_CHECK(k >= 1 && k <= values.size());
  SKERRY_CHECK(values.size() <= kChunkElements);
  return HWY_DYNAMIC_DISPATCH(SelectChunkAll)(values.data(), values.size(), k,
                                              &guess, places, kept);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
