#include "compression/dense/cpu/block4.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "compression/dense/cpu/levels4.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/dense/cpu/block4.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/dense/cpu/blocks-inl.h"
#include "compression/dense/cpu/codes4-inl.h"
#include "hwy/highway.h"

#ifndef SKERRY_COMPRESSION_CPU_BLOCK4_TABLES_
#define SKERRY_COMPRESSION_CPU_BLOCK4_TABLES_
namespace skerry::compression::cpu {
namespace {

// For each of 16 values: which 32-bit word of a block has its code, and from
// which bit on.
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
// One after another, each block would wait for its largest magnitude and for
// the inverse of its scale. More leave memory idle while those are looked for.
constexpr size_t kBlocksTogether = 8;

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

// Writes the scales and codes of some blocks. False when a value is not finite.
template <Levels4 kLevels, Scale4 kScale, size_t kBlocks>
HWY_INLINE bool EncodeTogether(const float* HWY_RESTRICT values,
                               const float* HWY_RESTRICT ahead,
                               std::byte* HWY_RESTRICT scales_out,
                               uint8_t* HWY_RESTRICT packed) {
  uint32_t bits[kBlocks];
  for (size_t b = 0; b < kBlocks; ++b) {
    bits[b] = static_cast<uint32_t>(AbsMaxBits<kBlock>(values + b * kBlock));
  }
  float scales[kBlocks];
  float inverses[kBlocks];  // zero where all codes are zero's
  for (size_t b = 0; b < kBlocks; ++b) {
    if (bits[b] >= 0x7f800000u) return false;
    const uint32_t code = ScaleCode<kScale>(bits[b]);
    const auto wire =
        static_cast<typename Block4Layout<kLevels, kScale>::Scale>(code);
    std::memcpy(scales_out + b * sizeof(wire), &wire, sizeof(wire));
    scales[b] = ScaleOf<kScale>(code);
    inverses[b] = code == 0 ? 0.0f : 1.0f / scales[b];
  }
  for (size_t b = 0; b < kBlocks; ++b) {
    const float* const block = values + b * kBlock;
    uint8_t* const to = packed + b * kBlock / 2;
    if (HWY_LIKELY(scales[b] < 0x1p100f)) {
      Quantize<kLevels, false>(block, 1.0f, inverses[b], ahead + b * kBlock,
                               to);
    } else {
      // Keeps the inverse a normal number.
      constexpr float kShrink = 0x1p-64f;
      Quantize<kLevels, true>(block, kShrink, 1.0f / (scales[b] * kShrink),
                              ahead + b * kBlock, to);
    }
  }
  return true;
}

#if HWY_TARGET == HWY_SCALAR
// Widens one block. False when a code has no value.
template <Levels4 kLevels, class Out>
bool DecodeBlock(const uint8_t* HWY_RESTRICT packed, float scale,
                 float* HWY_RESTRICT values, Out& out) {
  const auto& levels = kLevels == Levels4::kNf4 ? kNf4Levels : kE3m0Levels;
  for (size_t i = 0; i < kBlock; ++i) {
    const int code = i % 2 == 0 ? packed[i / 2] & 15 : packed[i / 2] >> 4;
    if (kLevels == Levels4::kE3m0 && code == kE3m0MinusZero) return false;
    const hn::ScalableTag<float> df;
    out.Put(hn::Set(df, levels.values[code] * scale), df, values + i);
  }
  return true;
}
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Widens one block. False when a code has no value.
template <Levels4 kLevels, class Out>
HWY_INLINE bool DecodeBlock(const uint8_t* HWY_RESTRICT packed, float scale,
                            float* HWY_RESTRICT values, Out& out) {
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
    const hn::Vec512<float> value{
        _mm512_permutexvar_ps(hn::Shr(eight, bit).raw, table.raw)};
    out.Put(value, df, values + 16 * i);
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
template <Levels4 kLevels, class Out>
HWY_INLINE bool DecodeBlock(const uint8_t* HWY_RESTRICT packed, float scale,
                            float* HWY_RESTRICT values, Out& out) {
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
    out.Put(hn::Mul(hn::BitCast(df, patterns), factor), df, at);
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
  static constexpr size_t kRun = kBlocksTogether;
  static constexpr float kPad = 0.0f;

  HWY_INLINE bool Encode(size_t, const float* HWY_RESTRICT values, size_t,
                         const float* HWY_RESTRICT ahead, std::byte* scale,
                         std::byte* HWY_RESTRICT codes) const {
    return EncodeTogether<kLevels, kScale, 1>(
        values, ahead, scale, reinterpret_cast<uint8_t*>(codes));
  }
  HWY_INLINE bool EncodeRun(size_t, const float* HWY_RESTRICT values,
                            const float* HWY_RESTRICT ahead, std::byte* scales,
                            std::byte* HWY_RESTRICT codes) const {
    return EncodeTogether<kLevels, kScale, kRun>(
        values, ahead, scales, reinterpret_cast<uint8_t*>(codes));
  }
  template <class Out>
  HWY_INLINE bool Decode(const std::byte* scale_at, const std::byte* codes,
                         float* HWY_RESTRICT values, Out& out) const {
    float scale;
    return LoadScale<kScale>(scale_at, scale) &&
           DecodeBlock<kLevels>(reinterpret_cast<const uint8_t*>(codes), scale,
                                values, out);
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
