#include "compression/top_k/cpu/stretch_codes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "compression/dense/cpu/int8_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/top_k/cpu/stretch_codes.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/dense/cpu/pages.h"
#include "compression/top_k/cpu/choose-inl.h"
#include "compression/top_k/cpu/halves-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other files have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Memory is asked this far ahead: 4 KiB.
constexpr size_t kValuesAhead = 1024;
// Values behind a tile that are read or written with it.
constexpr size_t kTileSlack = 64;

// Leaves all of `count` values that reach `bits` in `kept`; returns how many.
HWY_INLINE size_t CollectStretch(const float* HWY_RESTRICT values, size_t count,
                                 uint32_t bits, uint64_t* HWY_RESTRICT words,
                                 float* HWY_RESTRICT kept) {
  size_t found = 0;
  for (; count >= kMarkedValues; count -= kMarkedValues) {
    PrefetchWord(values + kValuesAhead);
    AskPageAhead(values, kMarkedValues * sizeof(float));
    *words++ = CollectWord(values, bits, kept, found);
    values += kMarkedValues;
  }
  if (count > 0) {
    float last[kMarkedValues] = {};
    std::copy_n(values, count, last);
    const uint64_t word = CollectWord(last, bits, kept, found);
    *words = word & LowBits(count);
    found -= hwy::PopCount(word >> count);  // zeros that reach a bound of 0
  }
  return found;
}

// Rounds `count` values up to a whole vector.
HWY_INLINE void QuantizeTile(const float* HWY_RESTRICT values, size_t count,
                             float inverse, int8_t* HWY_RESTRICT codes) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<int8_t, decltype(df)> d8;
  const auto factor = hn::Set(df, inverse);
  for (size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto rounded =
        hn::NearestInt(hn::Mul(hn::LoadU(df, values + i), factor));
    hn::StoreU(hn::DemoteTo(d8, rounded), d8, codes + i);
  }
}

// The bits of what is below `high` of a word's values, which it copies behind
// `banded` others. Raises `largest`, a magnitude, to those of all.
template <class V>
HWY_INLINE uint64_t OpenWord(const float* HWY_RESTRICT values, uint32_t high,
                             float* HWY_RESTRICT band, size_t& banded,
                             V& largest) {
  const hn::CappedTag<int32_t, kMarkedValues> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto last_below = hn::Set(di, static_cast<int32_t>(high - 1));
  uint64_t word = 0;
  HWY_UNROLL(4)
  for (size_t i = 0; i < kMarkedValues; i += lanes) {
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    largest = hn::Max(largest, size);
    const auto open = hn::Not(hn::Gt(size, last_below));
    const size_t count = hn::CountTrue(di, open);
    word |= MaskBits(di, open) << i;
    StoreFew(df, hn::Compress(value, hn::RebindMask(df, open)), count,
             band + banded);
    banded += count;
  }
  return word;
}

void CodeAll(const float* HWY_RESTRICT values, size_t count, uint32_t low,
             uint32_t high, const StretchCodes* to, CodedStretch* coded) {
  const hn::CappedTag<int32_t, kMarkedValues> di;
  float tile[kStretchMost + kTileSlack];
  const size_t found = CollectStretch(values, count, low, to->words, tile);
  // What the last word is filled with.
  std::fill_n(tile + found, kMarkedValues, 0.0f);
  auto largest = hn::Zero(di);
  size_t banded = 0;
  size_t i = 0;
  for (; i < found; i += kMarkedValues) {
    to->open[i / kMarkedValues] =
        OpenWord(tile + i, high, to->band, banded, largest);
  }
  if (i > found) {
    banded -= i - found;  // zeros are below `high`
    to->open[found / kMarkedValues] &= LowBits(found % kMarkedValues);
  }
  const int32_t bits = hn::GetLane(hn::MaxOfLanes(di, largest));
  const auto [scale, inverse] = Int8Block::ScaleOf(std::bit_cast<float>(bits));
  QuantizeTile(tile, found, inverse, reinterpret_cast<int8_t*>(to->codes));
  coded->found = found;
  coded->banded = banded;
  coded->scale = scale;
  coded->finite = bits < static_cast<int32_t>(kInfinityBits);
}

void ChooseAll(const float* HWY_RESTRICT band, size_t count, uint32_t above,
               size_t ties, uint64_t* HWY_RESTRICT kept) {
  size_t left = count;
  size_t i = 0;
  for (; i < count; i += kMarkedValues) {
    *kept++ =
        Choose(band + i, HWY_MIN(count - i, kMarkedValues), above, ties, left);
  }
  *kept = 0;
}

// Copies those of 64 codes that have a bit in `kept`.
HWY_INLINE void TakeWord(const std::byte* HWY_RESTRICT codes, uint64_t kept,
                         std::byte* HWY_RESTRICT taken) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
  _mm512_storeu_si512(
      taken, _mm512_maskz_compress_epi8(kept, _mm512_loadu_si512(codes)));
#else
  // Most are kept, so what is between others is copied, and more than that.
  size_t from = 0;
  for (uint64_t dropped = ~kept; dropped != 0; dropped &= dropped - 1) {
    const auto number = static_cast<size_t>(std::countr_zero(dropped));
    std::memcpy(taken, codes + from, kMarkedValues);
    taken += number - from;
    from = number + 1;
  }
  std::memcpy(taken, codes + from, kMarkedValues);
#endif
}

void TakeAll(const StretchCodes* from, size_t count, KeptBand* band,
             std::byte* HWY_RESTRICT taken, TakenCodes* result) {
  uint64_t* HWY_RESTRICT words = from->words;
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) found += hwy::PopCount(words[i]);
  // A bit for each code: whether it is sent.
  uint64_t kept[kStretchMost / kMarkedValues + 2];
  KeptBits in_band(band->kept, band->passed);
  size_t sent = 0;
  size_t next = 0;
  for (size_t i = 0; i < found; i += kMarkedValues) {
    const uint64_t open = from->open[next];
    const uint64_t some =
        (~open | in_band.Of(open)) & LowBits(HWY_MIN(found - i, kMarkedValues));
    TakeWord(from->codes + i, some, taken + sent);
    sent += hwy::PopCount(some);
    kept[next++] = some;
  }
  kept[next] = 0;
  kept[next + 1] = 0;
  band->passed = in_band.passed();
  if (sent < found) {
    KeptBits bits(kept);
    for (size_t i = 0; i < count; ++i) words[i] = bits.Of(words[i]);
  }
  result->found = found;
  result->sent = sent;
}

float EncodeAll(const float* HWY_RESTRICT values, size_t count,
                std::byte* HWY_RESTRICT codes) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto size_of = [&](const float* from) HWY_ATTR {
    return hn::And(hn::BitCast(di, hn::LoadU(df, from)), magnitude);
  };
  float last[kTileSlack] = {};
  const size_t whole = count / lanes * lanes;
  std::copy(values + whole, values + count, last);
  auto largest = size_of(last);
  auto others = largest;
  size_t i = 0;
  for (; i + 2 * lanes <= whole; i += 2 * lanes) {
    hwy::Prefetch(values + i + kValuesAhead);
    hwy::Prefetch(values + i + lanes + kValuesAhead);
    largest = hn::Max(largest, size_of(values + i));
    others = hn::Max(others, size_of(values + i + lanes));
  }
  if (i < whole) largest = hn::Max(largest, size_of(values + i));
  largest = hn::Max(largest, others);
  const int32_t bits = hn::GetLane(hn::MaxOfLanes(di, largest));
  const auto [scale, inverse] = Int8Block::ScaleOf(std::bit_cast<float>(bits));
  auto* const out = reinterpret_cast<int8_t*>(codes);
  QuantizeTile(values, whole, inverse, out);
  QuantizeTile(last, count - whole, inverse, out + whole);
  return scale;
}

bool DecodeAll(const std::byte* HWY_RESTRICT codes, size_t count, float scale,
               float* HWY_RESTRICT values) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> d32;
  const hn::Rebind<int8_t, decltype(df)> d8;
  const size_t lanes = hn::Lanes(df);
  const auto factor = hn::Set(df, scale);
  auto least = hn::Zero(d32);
  const auto decode = [&](const std::byte* from, float* to) HWY_ATTR {
    const auto code = hn::PromoteTo(
        d32, hn::LoadU(d8, reinterpret_cast<const int8_t*>(from)));
    least = hn::Min(least, code);
    hn::StoreU(hn::Mul(hn::ConvertTo(df, code), factor), df, to);
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) decode(codes + i, values + i);
  if (i < count) {
    std::byte last[kTileSlack] = {};
    std::copy(codes + i, codes + count, last);
    decode(last, values + i);
  }
  return hn::GetLane(hn::MinOfLanes(d32, least)) > -128;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(CodeAll);
HWY_EXPORT(ChooseAll);
HWY_EXPORT(TakeAll);
HWY_EXPORT(EncodeAll);
HWY_EXPORT(DecodeAll);

CodedStretch CodeStretch(std::span<const float> values, uint32_t low,
                         uint32_t high, const StretchCodes& to) {
  CodedStretch coded;
  HWY_DYNAMIC_DISPATCH(CodeAll)
  (values.data(), values.size(), low, high, &to, &coded);
  return coded;
}

void ChooseBand(std::span<const float> band, uint32_t above, size_t ties,
                uint64_t* kept) {
  HWY_DYNAMIC_DISPATCH(ChooseAll)
  (band.data(), band.size(), above, ties, kept);
}

TakenCodes TakeCodes(const StretchCodes& from, size_t count, KeptBand& band,
                     std::byte* taken) {
  TakenCodes result;
  HWY_DYNAMIC_DISPATCH(TakeAll)(&from, count, &band, taken, &result);
  return result;
}

float EncodeStretch(std::span<const float> values, std::byte* codes) {
  return HWY_DYNAMIC_DISPATCH(EncodeAll)(values.data(), values.size(), codes);
}

bool DecodeStretch(std::span<const std::byte> codes, float scale,
                   float* values) {
  return HWY_DYNAMIC_DISPATCH(DecodeAll)(codes.data(), codes.size(), scale,
                                         values);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
