#include "compression/chunk_top_k/cpu/mark_chunk.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/check.h"
#include "compression/top_k/cpu/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/chunk_top_k/cpu/mark_chunk.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/chunk_top_k/cpu/next_chunk-inl.h"
#include "compression/top_k/cpu/choose-inl.h"
#include "compression/top_k/cpu/collect-inl.h"
#include "compression/top_k/cpu/halves-inl.h"
#include "compression/top_k/cpu/kth-inl.h"
#include "compression/top_k/cpu/marks-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// How far apart the thresholds of chunks are taken to be, in patterns: 2^20 are
// an eighth of an octave.
constexpr uint32_t kMarginMin = 1u << 14;
constexpr uint32_t kMarginMax = 1u << 22;

// Whole vectors of every length.
constexpr size_t kRun = kChunkSlack / 2;

// More than any magnitude or bound that is looked for.
constexpr uint32_t kBeyond = 0x7fffffff;

// Copies what is less than `high`; returns how many. Writes behind the values,
// up to whole vectors.
HWY_INLINE size_t CopyBelow(float* HWY_RESTRICT values, size_t count,
                            uint32_t high, float* HWY_RESTRICT copy) {
  const hn::CappedTag<int32_t, kRun> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto behind = hn::Set(di, static_cast<int32_t>(high));
  std::fill_n(values + count, kRun, std::bit_cast<float>(kBeyond));
  size_t copied = 0;
  for (size_t i = 0; i < count; i += lanes) {
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto below = hn::Lt(size, behind);
    const size_t some = hn::CountTrue(di, below);
    StoreFew(df, hn::Compress(value, hn::RebindMask(df, below)), some,
             copy + copied);
    copied += some;
  }
  return copied;
}

// A magnitude that the k-th largest reaches and the next does not exceed, and
// how many of those that equal it are among the k.
struct Threshold {
  uint32_t magnitude;
  size_t ties;
};

// Returns the threshold of the k largest of `found` magnitudes. All are at
// least `low`, and the k-th largest is expected below `high`. Requires: k <
// found.
HWY_INLINE Threshold Divide(float* HWY_RESTRICT near, size_t found, size_t k,
                            uint32_t low, uint32_t high) {
  float band[kChunkElements + kChunkSlack];
  const size_t banded = CopyBelow(near, found, high, band);
  const size_t above = found - banded;
  if (above >= k) {
    const Dividing kth = KthFrom(near, found, k, high, above, /*exact=*/false);
    return {kth.magnitude, k - kth.above};
  }
  // Pads with zeros to whole vectors. They reach no magnitude that is asked
  // for.
  std::fill_n(band + banded, kRun, 0.0f);
  const size_t padded = (banded + kRun - 1) / kRun * kRun;
  const Dividing kth = KthWithin(band, padded, k - above,
                                 {low, high, banded, 0}, /*exact=*/false);
  return {kth.magnitude, k - above - kth.above};
}

// Goes to a mean of the last few magnitudes, with three times their mean
// distance from it on either side; all the way where one is far off.
HWY_INLINE void Learn(ChunkGuess& guess, uint32_t magnitude) {
  const auto off = static_cast<int32_t>(magnitude - guess.magnitude);
  const auto far = static_cast<uint32_t>(std::abs(off));
  if (far > 4 * guess.margin) {
    guess.magnitude = magnitude;
    return;
  }
  guess.magnitude += static_cast<uint32_t>(off / 4);
  guess.margin =
      std::clamp((7 * guess.margin + 3 * far) / 8, kMarginMin, kMarginMax);
}

void MarkAndKeep(const float* HWY_RESTRICT values, size_t count, size_t k,
                 ChunkGuess* guess, uint64_t* HWY_RESTRICT words,
                 float* HWY_RESTRICT kept) {
  float near[kChunkElements + kChunkSlack];
  uint32_t low = guess->magnitude - std::min(guess->margin, guess->magnitude);
  uint32_t high = guess->magnitude + guess->margin;
  NextChunk next(values);
  const auto ask = [&](const float*) HWY_ATTR { next.Ask(2); };
  size_t found = CollectAll(values, count, low, ask, words, near, 0);
  for (uint32_t step = guess->margin; found < k; step *= 2) {
    high = low;
    low -= std::min(step, low);
    found = CollectAll(values, count, low, ask, words, near, 0);
  }
  Threshold dividing = {low, 0};
  // A bit for each that was found: whether it is among the k.
  uint64_t kept_words[kChunkWords + 2];
  size_t at = 0;
  if (found == k) {
    std::copy_n(near, k, kept);
    for (; at * kMarkedValues < k; ++at) kept_words[at] = ~uint64_t{0};
  } else {
    dividing = Divide(near, found, k, low, high);
    next.Ask(48);
    size_t ties = dividing.ties;
    size_t left = k;
    size_t copied = 0;
    for (size_t i = 0; i < found; i += kMarkedValues) {
      next.Ask(2);
      kept_words[at++] =
          CopyChosen(near + i, std::min(found - i, kMarkedValues),
                     dividing.magnitude, ties, left, kept, copied);
    }
  }
  kept_words[at] = 0;
  kept_words[at + 1] = 0;
  KeptBits kept_bits(kept_words);
  for (size_t i = 0; i * kMarkedValues < count; ++i) {
    words[i] = kept_bits.Of(words[i]);
  }
  next.Ask(48);
  Learn(*guess, std::min(dividing.magnitude, kInfinityBits));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(MarkAndKeep);

void MarkChunk(std::span<const float> values, size_t k, ChunkGuess& guess,
               uint64_t* words, float* kept) {
  SKERRY_CHECK(k >= 1 && k <= values.size());
  SKERRY_CHECK(values.size() <= kChunkElements);
  HWY_DYNAMIC_DISPATCH(MarkAndKeep)
  (values.data(), values.size(), k, &guess, words, kept);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
