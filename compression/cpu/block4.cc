#include "compression/cpu/block4.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "compression/cpu/levels4.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/block4.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/cpu/blocks-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#ifndef SKERRY_COMPRESSION_CPU_BLOCK4_TABLES_
#define SKERRY_COMPRESSION_CPU_BLOCK4_TABLES_
namespace skerry::compression::cpu {
namespace {

// Midpoint `i` is between the levels i and i + 1.
constexpr float Nf4Midpoint(size_t i) {
  return (kNf4Levels.values[i] + kNf4Levels.values[i + 1]) * 0.5f;
}

// What the last two of four halvings compare with, by the code's upper bits;
// again and again for vectors of 16 lanes.
using Midpoints = std::array<float, 16>;
constexpr Midpoints MidpointsOf(size_t first, size_t stride, size_t count) {
  Midpoints midpoints{};
  for (size_t i = 0; i < midpoints.size(); ++i) {
    midpoints[i] = Nf4Midpoint(first + stride * (i % count));
  }
  return midpoints;
}
alignas(64) constexpr Midpoints kNf4ThirdHalving = MidpointsOf(1, 4, 4);
alignas(64) constexpr Midpoints kNf4FourthHalving = MidpointsOf(0, 2, 8);

// Cells of 1/15 about the multiples of 1/15 have one midpoint at most, far from
// their ends: the code is the number of midpoints below the cell, one more
// above its own. A cell's index is its multiple modulo 32.
struct Nf4Cells {
  float midpoint[32];
  int32_t below[32];
};
constexpr Nf4Cells CellsOfNf4() {
  Nf4Cells cells{};
  for (int i = 0; i < 32; ++i) {
    const int multiple = i < 16 ? i : i - 32;
    const float low = (static_cast<float>(multiple) - 0.5f) / 15.0f;
    const float high = (static_cast<float>(multiple) + 0.5f) / 15.0f;
    cells.midpoint[i] = std::numeric_limits<float>::infinity();
    for (size_t m = 0; m < 15; ++m) {
      const float midpoint = Nf4Midpoint(m);
      if (midpoint < low) ++cells.below[i];
      if (midpoint >= low && midpoint <= high) cells.midpoint[i] = midpoint;
    }
  }
  return cells;
}
alignas(64) constexpr Nf4Cells kNf4Cells = CellsOfNf4();

// Of a block's words of 32 bits, which one has the codes of each of 16 values,
// and from which bit on.
using Lanes16 = std::array<uint32_t, 16>;
constexpr Lanes16 WordsFrom(uint32_t first) {
  Lanes16 words{};
  for (uint32_t i = 0; i < 16; ++i) words[i] = first + i / 8;
  return words;
}
constexpr Lanes16 CodeBits() {
  Lanes16 bits{};
  for (uint32_t i = 0; i < 16; ++i) bits[i] = 4 * (i % 8);
  return bits;
}
alignas(64) constexpr Lanes16 kWordOf[4] = {WordsFrom(0), WordsFrom(2),
                                            WordsFrom(4), WordsFrom(6)};
alignas(64) constexpr Lanes16 kBitOf = CodeBits();

// Byte `plane` of each level's pattern: 16-byte tables that one shuffle reads.
using BytePlanes = std::array<std::array<uint8_t, 16>, 4>;
constexpr BytePlanes PlanesOf(const Levels16& levels) {
  BytePlanes planes{};
  for (int plane = 0; plane < 4; ++plane) {
    for (int code = 0; code < 16; ++code) {
      planes[plane][code] = static_cast<uint8_t>(
          std::bit_cast<uint32_t>(levels.values[code]) >> (8 * plane));
    }
  }
  return planes;
}
alignas(16) constexpr BytePlanes kNf4Planes = PlanesOf(kNf4Levels);
alignas(16) constexpr BytePlanes kE3m0Planes = PlanesOf(kE3m0Levels);

}  // namespace
}  // namespace skerry::compression::cpu
#endif  // SKERRY_COMPRESSION_CPU_BLOCK4_TABLES_

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBlock = Nf4::kElements;

// The number of midpoints below y: ties go to the lower level.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<int32_t> Nf4Code(hn::Vec512<float> y) {
  const hn::Full512<float> df;
  const hn::Full512<int32_t> di;
  // Adding it leaves the nearest integer in the lowest bits.
  const auto rounder = hn::Set(df, 0x1.8p23f);
  const auto cell = hn::BitCast(di, hn::MulAdd(y, hn::Set(df, 15.0f), rounder));
  const hn::Vec512<float> midpoint{
      _mm512_permutex2var_ps(hn::Load(df, kNf4Cells.midpoint).raw, cell.raw,
                             hn::Load(df, kNf4Cells.midpoint + 16).raw)};
  const hn::Vec512<int32_t> below{
      _mm512_permutex2var_epi32(hn::Load(di, kNf4Cells.below).raw, cell.raw,
                                hn::Load(di, kNf4Cells.below + 16).raw)};
  const auto above = hn::RebindMask(di, hn::Gt(y, midpoint));
  return hn::Vec512<int32_t>{_mm512_mask_add_epi32(
      below.raw, above.raw, below.raw, hn::Set(di, 1).raw)};
}
#elif HWY_MAX_BYTES >= 32 && !HWY_HAVE_SCALABLE
// Four halvings; a vector holds all that one of them may compare with.
template <class V>
HWY_INLINE auto Nf4Code(V y) {
  const hn::DFromV<V> df;
  const hn::RebindToSigned<decltype(df)> di;
  const auto above = [&](V midpoint) HWY_ATTR {
    // A true lane is -1.
    return hn::BitCast(di, hn::VecFromMask(df, hn::Gt(y, midpoint)));
  };
  const auto halved = [&](auto code, V midpoint) HWY_ATTR {
    return hn::Sub(hn::Add(code, code), above(midpoint));
  };
  const auto third = hn::Load(df, kNf4ThirdHalving.data());
  const auto fourth = hn::Load(df, kNf4FourthHalving.data());
  const auto upper = hn::Gt(y, hn::Set(df, Nf4Midpoint(7)));
  auto code = hn::Neg(hn::BitCast(di, hn::VecFromMask(df, upper)));
  code = halved(code, hn::IfThenElse(upper, hn::Set(df, Nf4Midpoint(11)),
                                     hn::Set(df, Nf4Midpoint(3))));
  code =
      halved(code, hn::TableLookupLanes(third, hn::IndicesFromVec(df, code)));
  return halved(code,
                hn::TableLookupLanes(fourth, hn::IndicesFromVec(df, code)));
}
#else
template <class V>
HWY_INLINE auto Nf4Code(V y) {
  const hn::DFromV<V> df;
  const hn::RebindToSigned<decltype(df)> di;
  auto code = hn::Zero(di);
  for (size_t i = 0; i + 1 < std::size(kNf4Levels.values); ++i) {
    const auto above = hn::Gt(y, hn::Set(df, Nf4Midpoint(i)));
    // A true lane is -1.
    code = hn::Sub(code, hn::BitCast(di, hn::VecFromMask(df, above)));
  }
  return code;
}
#endif

// The nearest power of two from the pattern: the exponent, one more above its
// middle. Ties go to the lower magnitude; the middle below 2^-6 is 2^-7. No
// magnitude is so far above 1 that its code would be 8.
template <class V>
HWY_INLINE auto E3m0Code(V y) {
  const hn::DFromV<V> df;
  const hn::RebindToSigned<decltype(df)> di;
  const auto raw = hn::BitCast(di, y);
  const auto size = hn::And(raw, hn::Set(di, 0x7fffffff));
  const auto nearest =
      hn::ShiftRight<23>(hn::Add(size, hn::Set(di, 0x3fffff - (120 << 23))));
  const auto above_zero = hn::Gt(size, hn::Set(di, 120 << 23));
  const auto sign =
      hn::ShiftRight<28>(hn::BitCast(hn::RebindToUnsigned<decltype(df)>(), y));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<V, hn::Vec512<float>>) {
    // a | (b & c), where the mask is set.
    return hn::Vec512<int32_t>{_mm512_maskz_ternarylogic_epi32(
        above_zero.raw, hn::Max(nearest, hn::Set(di, 1)).raw, sign.raw,
        hn::Set(di, 8).raw, 0xf8)};
  }
#endif
  return hn::IfThenElseZero(above_zero,
                            hn::OrAnd(hn::Max(nearest, hn::Set(di, 1)),
                                      hn::BitCast(di, sign), hn::Set(di, 8)));
}

template <Levels4 kLevels, class V>
HWY_INLINE auto CodeOf(V y) {
  if constexpr (kLevels == Levels4::kNf4) {
    return Nf4Code(y);
  } else {
    return E3m0Code(y);
  }
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Of 4 x 16 codes in order.
HWY_INLINE void StorePacked(hn::Vec512<uint32_t> a, hn::Vec512<uint32_t> b,
                            hn::Vec512<uint32_t> c, hn::Vec512<uint32_t> d,
                            uint8_t* HWY_RESTRICT packed) {
  const hn::Full512<uint64_t> d64;
  const hn::Full256<uint8_t> d8;
  const hn::Full256<uint32_t> d32;
  // Byte j of lane i is code 16 j + i; then that of 16 j + i + 1 joins it in
  // even lanes.
  const auto four = hn::BitCast(
      d64, hn::Or(hn::Or(a, hn::ShiftLeft<8>(b)),
                  hn::Or(hn::ShiftLeft<16>(c), hn::ShiftLeft<24>(d))));
  const auto pairs = hn::Or(four, hn::ShiftRight<28>(four));
  const hn::Vec256<uint8_t> even{_mm512_cvtepi64_epi32(pairs.raw)};
  alignas(32) static constexpr uint8_t kByBlock[32] = {
      0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,
      0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  alignas(32) static constexpr int32_t kBothHalves[8] = {0, 4, 1, 5,
                                                         2, 6, 3, 7};
  const auto by_block = hn::TableLookupBytes(even, hn::Load(d8, kByBlock));
  hn::StoreU(hn::TableLookupLanes(hn::BitCast(d32, by_block),
                                  hn::SetTableIndices(d32, kBothHalves)),
             d32, reinterpret_cast<uint32_t*>(packed));
}
#endif

// Two codes a byte, the first in the low half. y = (x * shrink) * inverse.
// `ahead` is a block that is needed soon: this pass reads from cache, and
// memory would idle meanwhile.
template <Levels4 kLevels, bool kShrink>
HWY_INLINE void Quantize(const float* HWY_RESTRICT values, float shrink,
                         float inverse, const float* HWY_RESTRICT ahead,
                         uint8_t* HWY_RESTRICT packed) {
  const hn::CappedTag<float, kBlock> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const auto factor0 = hn::Set(df, shrink);
  const auto factor1 = hn::Set(df, inverse);
  const auto codes_at = [&](size_t i) HWY_ATTR {
    hwy::Prefetch(ahead + i);
    auto x = hn::LoadU(df, values + i);
    if constexpr (kShrink) x = hn::Mul(x, factor0);
    return hn::BitCast(du, CodeOf<kLevels>(hn::Mul(x, factor1)));
  };
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  StorePacked(codes_at(0), codes_at(16), codes_at(32), codes_at(48), packed);
#elif HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < kBlock; i += 2) {
    packed[i / 2] = static_cast<uint8_t>(hn::GetLane(codes_at(i)) |
                                         hn::GetLane(codes_at(i + 1)) << 4);
  }
#else
  const hn::Repartition<uint64_t, decltype(du)> d64;
  const hn::Rebind<uint8_t, decltype(d64)> d8;
  const size_t lanes = hn::Lanes(df);
  for (size_t i = 0; i < kBlock; i += lanes) {
    const auto pair = hn::BitCast(d64, codes_at(i));
    const auto byte = hn::Or(pair, hn::ShiftRight<28>(pair));
    hn::StoreU(hn::TruncateTo(d8, byte), d8, packed + i / 2);
  }
#endif
}

// The scale of a block as the wire has it.
template <Scale4 kScale>
HWY_INLINE uint32_t ScaleCode(uint32_t absmax_bits) {
  if (absmax_bits < std::bit_cast<uint32_t>(kBlock4ScaleMin)) return 0;
  if constexpr (kScale == Scale4::kF32) return absmax_bits;
  return std::min((absmax_bits + 0xffffu) >> 16, 0x7f7fu);
}

template <Scale4 kScale>
HWY_INLINE float ScaleOf(uint32_t code) {
  return std::bit_cast<float>(kScale == Scale4::kF32 ? code : code << 16);
}

// Writes one block's scale and codes. False when a value is not finite.
template <Levels4 kLevels, Scale4 kScale>
HWY_INLINE bool EncodeBlock(const float* HWY_RESTRICT values,
                            const float* HWY_RESTRICT ahead,
                            std::byte* HWY_RESTRICT scale_out,
                            uint8_t* HWY_RESTRICT packed) {
  const auto bits = static_cast<uint32_t>(AbsMaxBits<kBlock>(values));
  if (bits >= 0x7f800000u) return false;
  const uint32_t code = ScaleCode<kScale>(bits);
  const auto wire =
      static_cast<typename Block4Layout<kLevels, kScale>::Scale>(code);
  std::memcpy(scale_out, &wire, sizeof(wire));
  if (code == 0) {
    const uint8_t zero = kLevels == Levels4::kNf4 ? kNf4Zero : 0;
    std::memset(packed, zero | zero << 4, kBlock / 2);
    return true;
  }
  const float scale = ScaleOf<kScale>(code);
  if (scale >= 0x1p100f) {
    // Keeps the inverse a normal number.
    constexpr float kShrink = 0x1p-64f;
    Quantize<kLevels, true>(values, kShrink, 1.0f / (scale * kShrink), ahead,
                            packed);
  } else {
    Quantize<kLevels, false>(values, 1.0f, 1.0f / scale, ahead, packed);
  }
  return true;
}

#if HWY_TARGET == HWY_SCALAR
// Widens one block. False when a code has no value.
template <Levels4 kLevels, bool kAdd>
bool DecodeBlock(const uint8_t* HWY_RESTRICT packed, float scale,
                 float* HWY_RESTRICT values) {
  const auto& levels = kLevels == Levels4::kNf4 ? kNf4Levels : kE3m0Levels;
  for (size_t i = 0; i < kBlock; ++i) {
    const int code = i % 2 == 0 ? packed[i / 2] & 15 : packed[i / 2] >> 4;
    if (kLevels == Levels4::kE3m0 && code == kE3m0MinusZero) return false;
    const float value = levels.values[code] * scale;
    values[i] = kAdd ? values[i] + value : value;
  }
  return true;
}
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Widens one block. False when a code has no value.
template <Levels4 kLevels, bool kAdd>
HWY_INLINE bool DecodeBlock(const uint8_t* HWY_RESTRICT packed, float scale,
                            float* HWY_RESTRICT values) {
  const hn::Full512<float> df;
  const hn::Full512<uint32_t> du;
  const hn::Full256<uint8_t> d8;
  static_assert(kBlock == 4 * 16);
  const auto& levels = kLevels == Levels4::kNf4 ? kNf4Levels : kE3m0Levels;
  const auto table = hn::Mul(hn::LoadU(df, levels.values), hn::Set(df, scale));
  const auto bytes = hn::LoadU(d8, packed);
  const auto words = _mm512_castsi256_si512(bytes.raw);
  const auto bit = hn::Load(du, kBitOf.data());
  for (size_t i = 0; i < 4; ++i) {
    const auto word = hn::Load(du, kWordOf[i].data());
    const hn::Vec512<uint32_t> eight{_mm512_permutexvar_epi32(word.raw, words)};
    // The lowest four bits pick the level.
    hn::Vec512<float> value{
        _mm512_permutexvar_ps(hn::Shr(eight, bit).raw, table.raw)};
    float* const at = values + 16 * i;
    if constexpr (kAdd) value = hn::Add(hn::LoadU(df, at), value);
    hn::StoreU(value, df, at);
  }
  if constexpr (kLevels == Levels4::kNf4) return true;
  const auto low = hn::And(bytes, hn::Set(d8, uint8_t{0x0f}));
  const auto high = hn::And(bytes, hn::Set(d8, uint8_t{0xf0}));
  return hn::AllFalse(
      d8, hn::Or(hn::Eq(low, hn::Set(d8, kE3m0MinusZero)),
                 hn::Eq(high, hn::Set(d8, uint8_t{kE3m0MinusZero << 4}))));
}
#else
// Widens one block. False when a code has no value.
template <Levels4 kLevels, bool kAdd>
HWY_INLINE bool DecodeBlock(const uint8_t* HWY_RESTRICT packed, float scale,
                            float* HWY_RESTRICT values) {
  const hn::FixedTag<uint8_t, 16> d8;
  const hn::Repartition<uint16_t, decltype(d8)> d16;
  const hn::Repartition<float, decltype(d8)> df;
  const BytePlanes& planes =
      kLevels == Levels4::kNf4 ? kNf4Planes : kE3m0Planes;
  const auto plane0 = hn::LoadU(d8, planes[0].data());
  const auto plane1 = hn::LoadU(d8, planes[1].data());
  const auto plane2 = hn::LoadU(d8, planes[2].data());
  const auto plane3 = hn::LoadU(d8, planes[3].data());
  const auto low_half = hn::Set(d8, uint8_t{15});
  const auto factor = hn::Set(df, scale);
  auto bad = hn::Zero(d8);
  const auto store = [&](auto patterns, float* at) {
    auto value = hn::Mul(hn::BitCast(df, patterns), factor);
    if constexpr (kAdd) value = hn::Add(hn::LoadU(df, at), value);
    hn::StoreU(value, df, at);
  };
  for (size_t i = 0; i < kBlock; i += 32) {
    const auto bytes = hn::LoadU(d8, packed + i / 2);
    const auto low = hn::And(bytes, low_half);
    const auto high = hn::And(
        hn::BitCast(d8, hn::ShiftRight<4>(hn::BitCast(d16, bytes))), low_half);
    for (size_t half = 0; half < 2; ++half) {
      const auto codes = half == 0 ? hn::InterleaveLower(d8, low, high)
                                   : hn::InterleaveUpper(d8, low, high);
      if constexpr (kLevels == Levels4::kE3m0) {
        const auto minus_zero = hn::Set(d8, kE3m0MinusZero);
        bad = hn::Or(bad, hn::VecFromMask(d8, hn::Eq(codes, minus_zero)));
      }
      const auto b0 = hn::TableLookupBytes(plane0, codes);
      const auto b1 = hn::TableLookupBytes(plane1, codes);
      const auto b2 = hn::TableLookupBytes(plane2, codes);
      const auto b3 = hn::TableLookupBytes(plane3, codes);
      const auto lo0 = hn::BitCast(d16, hn::InterleaveLower(d8, b0, b1));
      const auto lo1 = hn::BitCast(d16, hn::InterleaveUpper(d8, b0, b1));
      const auto hi0 = hn::BitCast(d16, hn::InterleaveLower(d8, b2, b3));
      const auto hi1 = hn::BitCast(d16, hn::InterleaveUpper(d8, b2, b3));
      float* at = values + i + 16 * half;
      store(hn::InterleaveLower(d16, lo0, hi0), at);
      store(hn::InterleaveUpper(d16, lo0, hi0), at + 4);
      store(hn::InterleaveLower(d16, lo1, hi1), at + 8);
      store(hn::InterleaveUpper(d16, lo1, hi1), at + 12);
    }
  }
  return hn::AllTrue(d8, hn::Eq(bad, hn::Zero(d8)));
}
#endif  // HWY_TARGET

template <Scale4 kScale>
HWY_INLINE bool LoadScale(const std::byte* at, float& scale) {
  std::conditional_t<kScale == Scale4::kF32, uint32_t, uint16_t> wire;
  std::memcpy(&wire, at, sizeof(wire));
  const uint32_t bits = kScale == Scale4::kF32 ? wire : uint32_t{wire} << 16;
  scale = std::bit_cast<float>(bits);
  return bits == 0 || (bits >= std::bit_cast<uint32_t>(kBlock4ScaleMin) &&
                       bits < 0x7f800000u);
}

template <Levels4 kLevels, Scale4 kScale>
struct Block4Body {
  static constexpr float kPad = 0.0f;

  HWY_INLINE bool Encode(size_t, const float* HWY_RESTRICT values, size_t,
                         const float* HWY_RESTRICT ahead, std::byte* scale,
                         std::byte* HWY_RESTRICT codes) const {
    return EncodeBlock<kLevels, kScale>(values, ahead, scale,
                                        reinterpret_cast<uint8_t*>(codes));
  }
  template <bool kAdd>
  HWY_INLINE bool Decode(const std::byte* scale_at, const std::byte* codes,
                         float* HWY_RESTRICT values) const {
    float scale;
    return LoadScale<kScale>(scale_at, scale) &&
           DecodeBlock<kLevels, kAdd>(reinterpret_cast<const uint8_t*>(codes),
                                      scale, values);
  }
};

SKERRY_BLOCK_CODEC_TARGET(Nf4, Block4Body<Levels4::kNf4, Scale4::kBf16>)
SKERRY_BLOCK_CODEC_TARGET(Nf4F32, Block4Body<Levels4::kNf4, Scale4::kF32>)
SKERRY_BLOCK_CODEC_TARGET(E3m0, Block4Body<Levels4::kE3m0, Scale4::kBf16>)
SKERRY_BLOCK_CODEC_TARGET(E3m0F32, Block4Body<Levels4::kE3m0, Scale4::kF32>)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

SKERRY_BLOCK_CODEC(Nf4)
SKERRY_BLOCK_CODEC(Nf4F32)
SKERRY_BLOCK_CODEC(E3m0)
SKERRY_BLOCK_CODEC(E3m0F32)

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
