#include "compression/cpu/mark_chunk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "compression/cpu/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/mark_chunk.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/cpu/halves-inl.h"
#include "compression/cpu/kth-inl.h"
#include "compression/cpu/marks-inl.h"
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

// Half a chunk is asked for while the one before is copied, the other half
// while that is marked.
constexpr size_t kAhead = kChunkElements / 2;
constexpr size_t kLine = 64 / sizeof(float);
static_assert(kChunkWords * 2 * kLine == kAhead);
// Whole vectors of every length.
constexpr size_t kRun = kChunkSlack / 2;

// Values that are read as whole words; of the last, only `last` bits are of
// values.
struct Whole {
  Whole(const float* all, size_t count)
      : values(all),
        words((count + kMarkedValues - 1) / kMarkedValues),
        last(~uint64_t{0} >> (words * kMarkedValues - count)) {}

  const float* values;
  size_t words;
  uint64_t last;

  HWY_INLINE const float* At(size_t word) const {
    return values + word * kMarkedValues;
  }
  HWY_INLINE uint64_t Marked(size_t word, uint32_t bits) const {
    const uint64_t all = MarkWord(At(word), bits);
    return word + 1 == words ? all & last : all;
  }
};

// Copies values whose magnitudes, as signed numbers, pass test(); returns how
// many. Waits for memory, and asks it ahead.
template <class Test>
HWY_INLINE size_t CopyIf(const float* HWY_RESTRICT values, size_t count,
                         const Test& test, float* HWY_RESTRICT copy) {
  const hn::CappedTag<int32_t, kMarkedValues> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  size_t copied = 0;
  const auto copy_some = [&](size_t i, size_t valid) HWY_ATTR {
    const auto value = hn::LoadU(df, values + i);
    auto passes = test(di, hn::And(hn::BitCast(di, value), magnitude));
    if (valid < lanes) passes = hn::And(passes, hn::FirstN(di, valid));
    const size_t some = hn::CountTrue(di, passes);
    StoreFew(df, hn::Compress(value, hn::RebindMask(df, passes)), some,
             copy + copied);
    copied += some;
  };
  size_t i = 0;
  for (; i + kMarkedValues <= count; i += kMarkedValues) {
    PrefetchWord(values + i + kAhead);
    HWY_UNROLL(4)
    for (size_t j = 0; j < kMarkedValues; j += lanes) copy_some(i + j, lanes);
  }
  for (; i < count; i += lanes) copy_some(i, count - i);
  return copied;
}

// Copies what has at least `bits`; returns how many.
HWY_INLINE size_t CopyFrom(const float* HWY_RESTRICT values, size_t count,
                           uint32_t bits, float* HWY_RESTRICT copy) {
  const auto test = [bits](auto di, auto size) HWY_ATTR {
    return hn::Gt(size, hn::Set(di, static_cast<int32_t>(bits - 1)));
  };
  return CopyIf(values, count, test, copy);
}

// Copies what has at least `low` and less than `high`; returns how many.
HWY_INLINE size_t CopyBetween(const float* HWY_RESTRICT values, size_t count,
                              uint32_t low, uint32_t high,
                              float* HWY_RESTRICT copy) {
  const auto test = [low, high](auto di, auto size) HWY_ATTR {
    const auto from = hn::Gt(size, hn::Set(di, static_cast<int32_t>(low - 1)));
    return hn::And(from, hn::Lt(size, hn::Set(di, static_cast<int32_t>(high))));
  };
  return CopyIf(values, count, test, copy);
}

// Marks those of at least `bits`. Asks for the next chunk meanwhile.
HWY_INLINE void MarkFrom(const Whole& chunk, uint32_t bits,
                         uint64_t* HWY_RESTRICT words) {
  for (size_t i = 0; i < chunk.words; ++i) {
    const float* const next =
        chunk.values + kChunkElements + kAhead + i * 2 * kLine;
    hwy::Prefetch(next);
    hwy::Prefetch(next + kLine);
    words[i] = chunk.Marked(i, bits);
  }
}

// Of those of at least `bits` takes away all that equal it but the first
// `ties`.
HWY_INLINE void CutTies(const Whole& chunk, uint32_t bits, size_t ties,
                        uint64_t* HWY_RESTRICT words) {
  for (size_t i = 0; i < chunk.words; ++i) {
    uint64_t equal = words[i] & ~chunk.Marked(i, bits + 1);
    for (; equal != 0 && ties > 0; --ties) equal &= equal - 1;
    words[i] &= ~equal;
  }
}

// A magnitude that the k-th largest reaches and the next does not exceed, and
// how many of those that equal it are among the k.
struct Dividing {
  uint32_t magnitude;
  size_t ties;
};

// Of `found` from `low` on, the k-th largest of which is expected below `high`.
HWY_INLINE Dividing Divide(const float* HWY_RESTRICT near, size_t found,
                           size_t k, uint32_t low, uint32_t high) {
  float band[kChunkElements + kChunkSlack];
  const size_t banded = CopyBetween(near, found, low, high, band);
  const size_t above = found - banded;
  uint32_t magnitude;
  if (above >= k) {
    magnitude = KthFrom(near, found, k, high, above, /*exact=*/false);
    return {magnitude, k - CountAll(near, found, magnitude + 1)};
  }
  // Zeros to whole vectors, which reach no magnitude that is asked for.
  std::fill_n(band + banded, kRun, 0.0f);
  const size_t padded = (banded + kRun - 1) / kRun * kRun;
  magnitude = KthWithin(band, padded, k - above, {low, high, banded, 0},
                        /*exact=*/false);
  return {magnitude, k - above - CountAll(band, padded, magnitude + 1)};
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
  const Whole chunk(values, count);
  float near[kChunkElements + kChunkSlack];
  uint32_t low = guess->magnitude - std::min(guess->margin, guess->magnitude);
  uint32_t high = guess->magnitude + guess->margin;
  size_t found = CopyFrom(values, count, low, near);
  for (uint32_t step = guess->margin; found < k; step *= 2) {
    high = low;
    low -= std::min(step, low);
    found = CopyFrom(values, count, low, near);
  }
  Dividing dividing = {low, 0};
  if (found == k) {
    std::copy_n(near, k, kept);
    MarkFrom(chunk, low, words);
  } else {
    dividing = Divide(near, found, k, low, high);
    if (dividing.ties == 0) {
      CopyFrom(near, found, dividing.magnitude + 1, kept);
      MarkFrom(chunk, dividing.magnitude + 1, words);
    } else {
      MarkFrom(chunk, dividing.magnitude, words);
      CutTies(chunk, dividing.magnitude, dividing.ties, words);
      for (size_t i = 0; i < chunk.words; ++i) {
        kept += CopyWord(chunk.At(i), words[i], kept);
      }
    }
  }
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
  // Whole words are read.
  float padded[kChunkElements];
  const float* whole = values.data();
  if (values.size() % kMarkedValues != 0) {
    std::memcpy(padded, whole, values.size_bytes());
    std::fill(padded + values.size(), padded + kChunkElements, 0.0f);
    whole = padded;
  }
  HWY_DYNAMIC_DISPATCH(MarkAndKeep)
  (whole, values.size(), k, &guess, words, kept);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
