#include "compression/cpu/block4.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/block4.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

#ifndef SKERRY_COMPRESSION_CPU_BLOCK4_TABLES_
#define SKERRY_COMPRESSION_CPU_BLOCK4_TABLES_
namespace skerry::compression::cpu {
namespace {

// QLoRA (Dettmers et al. 2023), appendix E.
constexpr std::array<float, 16> kNf4Levels = {-1.0f,
                                              -0.6961928009986877f,
                                              -0.5250730514526367f,
                                              -0.39491748809814453f,
                                              -0.28444138169288635f,
                                              -0.18477343022823334f,
                                              -0.09105003625154495f,
                                              0.0f,
                                              0.07958029955625534f,
                                              0.16093020141124725f,
                                              0.24611230194568634f,
                                              0.33791524171829224f,
                                              0.44070982933044434f,
                                              0.5626170039176941f,
                                              0.7229568362236023f,
                                              1.0f};

// Bit 3 is the sign; code 8 has no value of its own.
constexpr std::array<float, 16> kE3m0Levels = {
    0.0f,  0x1p-6f,  0x1p-5f,  0x1p-4f,  0x1p-3f,  0x1p-2f,  0x1p-1f,  1.0f,
    -0.0f, -0x1p-6f, -0x1p-5f, -0x1p-4f, -0x1p-3f, -0x1p-2f, -0x1p-1f, -1.0f};

constexpr uint8_t kNf4Zero = 7;
constexpr uint8_t kE3m0MinusZero = 8;

// Byte `plane` of each level's pattern: 16-byte tables that one shuffle reads.
using BytePlanes = std::array<std::array<uint8_t, 16>, 4>;
constexpr BytePlanes PlanesOf(const std::array<float, 16>& levels) {
  BytePlanes planes{};
  for (int plane = 0; plane < 4; ++plane) {
    for (int code = 0; code < 16; ++code) {
      planes[plane][code] = static_cast<uint8_t>(
          std::bit_cast<uint32_t>(levels[code]) >> (8 * plane));
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

constexpr size_t kBlock = kBlock4Elements;

// Bit pattern of the largest magnitude in a block, ordered as magnitudes are.
HWY_INLINE int32_t AbsMaxBits(const float* HWY_RESTRICT values) {
  const hn::ScalableTag<int32_t> di;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto* bits = reinterpret_cast<const int32_t*>(values);
  auto max = hn::Zero(di);
  for (size_t i = 0; i < kBlock; i += lanes) {
    max = hn::Max(max, hn::And(hn::LoadU(di, bits + i), magnitude));
  }
  return hn::GetLane(hn::MaxOfLanes(di, max));
}

// The number of midpoints below y: ties go to the lower level.
template <class V>
HWY_INLINE auto Nf4Code(V y) {
  const hn::DFromV<V> df;
  const hn::RebindToSigned<decltype(df)> di;
  auto code = hn::Zero(di);
  for (size_t i = 0; i + 1 < kNf4Levels.size(); ++i) {
    const float midpoint = (kNf4Levels[i] + kNf4Levels[i + 1]) * 0.5f;
    const auto above = hn::Gt(y, hn::Set(df, midpoint));
    // A true lane is -1.
    code = hn::Sub(code, hn::BitCast(di, hn::VecFromMask(df, above)));
  }
  return code;
}

// The nearest power of two from the pattern: the exponent, one more above its
// middle. Ties go to the lower magnitude; the middle below 2^-6 is 2^-7.
template <class V>
HWY_INLINE auto E3m0Code(V y) {
  const hn::DFromV<V> df;
  const hn::RebindToSigned<decltype(df)> di;
  const auto raw = hn::BitCast(di, y);
  const auto size = hn::And(raw, hn::Set(di, 0x7fffffff));
  const auto exponent =
      hn::ShiftRight<23>(hn::Add(size, hn::Set(di, 0x3fffff)));
  const auto nearest = hn::Sub(exponent, hn::Set(di, 120));
  const auto above_zero = hn::Gt(size, hn::Set(di, 120 << 23));
  const auto one = hn::Set(di, 1);
  const auto code = hn::IfThenElseZero(
      above_zero, hn::Min(hn::Max(nearest, one), hn::Set(di, 7)));
  const auto negative = hn::And(above_zero, hn::Lt(raw, hn::Zero(di)));
  return hn::Or(code, hn::IfThenElseZero(negative, hn::Set(di, 8)));
}

// Two codes a byte, the first in the low half.
HWY_INLINE void PackCodes(const uint8_t* HWY_RESTRICT codes,
                          uint8_t* HWY_RESTRICT packed) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < kBlock / 2; ++i) {
    packed[i] = codes[2 * i] | codes[2 * i + 1] << 4;
  }
#else
  const hn::CappedTag<uint16_t, kBlock / 2> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const hn::Repartition<uint8_t, decltype(d16)> pairs;
  const size_t lanes = hn::Lanes(d16);
  for (size_t i = 0; i < kBlock / 2; i += lanes) {
    const auto pair = hn::BitCast(d16, hn::LoadU(pairs, codes + 2 * i));
    const auto byte = hn::And(hn::Or(pair, hn::ShiftRight<4>(pair)),
                              hn::Set(d16, uint16_t{0xff}));
    hn::StoreU(hn::TruncateTo(d8, byte), d8, packed + i);
  }
#endif
}

// `shrink` keeps 1 / scale a normal number: y = (x * shrink) * inverse.
template <Levels4 kLevels>
HWY_INLINE void Quantize(const float* HWY_RESTRICT values, float shrink,
                         float inverse, uint8_t* HWY_RESTRICT packed) {
  const hn::CappedTag<float, kBlock> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  const size_t lanes = hn::Lanes(df);
  const auto factor0 = hn::Set(df, shrink);
  const auto factor1 = hn::Set(df, inverse);
  HWY_ALIGN uint8_t codes[kBlock];
  for (size_t i = 0; i < kBlock; i += lanes) {
    const auto y =
        hn::Mul(hn::Mul(hn::LoadU(df, values + i), factor0), factor1);
    if constexpr (kLevels == Levels4::kNf4) {
      hn::StoreU(hn::TruncateTo(d8, hn::BitCast(du, Nf4Code(y))), d8,
                 codes + i);
    } else {
      hn::StoreU(hn::TruncateTo(d8, hn::BitCast(du, E3m0Code(y))), d8,
                 codes + i);
    }
  }
  PackCodes(codes, packed);
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
                            std::byte* HWY_RESTRICT scale_out,
                            uint8_t* HWY_RESTRICT packed) {
  const auto bits = static_cast<uint32_t>(AbsMaxBits(values));
  if (bits >= 0x7f800000u) return false;
  const uint32_t code = ScaleCode<kScale>(bits);
  const auto wire = static_cast<typename Block4<kLevels, kScale>::Scale>(code);
  std::memcpy(scale_out, &wire, sizeof(wire));
  if (code == 0) {
    const uint8_t zero = kLevels == Levels4::kNf4 ? kNf4Zero : 0;
    std::memset(packed, zero | zero << 4, kBlock / 2);
    return true;
  }
  const float scale = ScaleOf<kScale>(code);
  const float shrink = scale >= 0x1p100f ? 0x1p-64f : 1.0f;
  Quantize<kLevels>(values, shrink, 1.0f / (scale * shrink), packed);
  return true;
}

template <Levels4 kLevels, Scale4 kScale>
bool EncodeAll(const float* HWY_RESTRICT values, size_t count,
               std::byte* HWY_RESTRICT out) {
  using Kernels = Block4<kLevels, kScale>;
  constexpr size_t kScaleBytes = sizeof(typename Kernels::Scale);
  auto* packed =
      reinterpret_cast<uint8_t*>(out + Kernels::Blocks(count) * kScaleBytes);
  const size_t whole = count / kBlock;
  for (size_t b = 0; b < whole; ++b) {
    if (!EncodeBlock<kLevels, kScale>(values + b * kBlock,
                                      out + b * kScaleBytes,
                                      packed + b * kBlock / 2)) {
      return false;
    }
  }
  const size_t rest = count - whole * kBlock;
  if (rest == 0) return true;
  float padded[kBlock] = {};
  uint8_t padded_codes[kBlock / 2];
  std::memcpy(padded, values + whole * kBlock, rest * sizeof(float));
  if (!EncodeBlock<kLevels, kScale>(padded, out + whole * kScaleBytes,
                                    padded_codes)) {
    return false;
  }
  if (rest % 2 != 0) padded_codes[rest / 2] &= 0x0f;
  std::memcpy(packed + whole * kBlock / 2, padded_codes, (rest + 1) / 2);
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
    const float value = levels[code] * scale;
    values[i] = kAdd ? values[i] + value : value;
  }
  return true;
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

template <Levels4 kLevels, Scale4 kScale, bool kAdd>
bool DecodeAll(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  using Kernels = Block4<kLevels, kScale>;
  constexpr size_t kScaleBytes = sizeof(typename Kernels::Scale);
  const auto* packed = reinterpret_cast<const uint8_t*>(
      payload + Kernels::Blocks(count) * kScaleBytes);
  const size_t whole = count / kBlock;
  float scale;
  for (size_t b = 0; b < whole; ++b) {
    if (!LoadScale<kScale>(payload + b * kScaleBytes, scale) ||
        !DecodeBlock<kLevels, kAdd>(packed + b * kBlock / 2, scale,
                                    values + b * kBlock)) {
      return false;
    }
  }
  const size_t rest = count - whole * kBlock;
  if (rest == 0) return true;
  float padded[kBlock] = {};
  uint8_t padded_codes[kBlock / 2] = {};
  std::memcpy(padded, values + whole * kBlock, rest * sizeof(float));
  std::memcpy(padded_codes, packed + whole * kBlock / 2, (rest + 1) / 2);
  if (rest % 2 != 0 && padded_codes[rest / 2] > 0x0f) return false;
  if (!LoadScale<kScale>(payload + whole * kScaleBytes, scale) ||
      !DecodeBlock<kLevels, kAdd>(padded_codes, scale, padded)) {
    return false;
  }
  std::memcpy(values + whole * kBlock, padded, rest * sizeof(float));
  return true;
}

// Dispatch wants functions that are no templates.
#define SKERRY_BLOCK4_TARGET(Name, kLevels, kScale)                         \
  bool Encode##Name(const float* HWY_RESTRICT values, size_t count,         \
                    std::byte* HWY_RESTRICT out) {                          \
    return EncodeAll<kLevels, kScale>(values, count, out);                  \
  }                                                                         \
  bool Decode##Name(const std::byte* HWY_RESTRICT payload, size_t count,    \
                    float* HWY_RESTRICT values) {                           \
    return DecodeAll<kLevels, kScale, false>(payload, count, values);       \
  }                                                                         \
  bool DecodeAdd##Name(const std::byte* HWY_RESTRICT payload, size_t count, \
                       float* HWY_RESTRICT values) {                        \
    return DecodeAll<kLevels, kScale, true>(payload, count, values);        \
  }
SKERRY_BLOCK4_TARGET(Nf4, Levels4::kNf4, Scale4::kBf16)
SKERRY_BLOCK4_TARGET(Nf4F32, Levels4::kNf4, Scale4::kF32)
SKERRY_BLOCK4_TARGET(E3m0, Levels4::kE3m0, Scale4::kBf16)
SKERRY_BLOCK4_TARGET(E3m0F32, Levels4::kE3m0, Scale4::kF32)
#undef SKERRY_BLOCK4_TARGET

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

#define SKERRY_BLOCK4(Name)                                                 \
  HWY_EXPORT(Encode##Name);                                                 \
  HWY_EXPORT(Decode##Name);                                                 \
  HWY_EXPORT(DecodeAdd##Name);                                              \
  template <>                                                               \
  bool Name::Encode(std::span<const float> values, std::byte* out) {        \
    return HWY_DYNAMIC_DISPATCH(Encode##Name)(values.data(), values.size(), \
                                              out);                         \
  }                                                                         \
  template <>                                                               \
  bool Name::Decode(const std::byte* payload, std::span<float> values) {    \
    return HWY_DYNAMIC_DISPATCH(Decode##Name)(payload, values.size(),       \
                                              values.data());               \
  }                                                                         \
  template <>                                                               \
  bool Name::DecodeAdd(const std::byte* payload, std::span<float> values) { \
    return HWY_DYNAMIC_DISPATCH(DecodeAdd##Name)(payload, values.size(),    \
                                                 values.data());            \
  }
SKERRY_BLOCK4(Nf4)
SKERRY_BLOCK4(Nf4F32)
SKERRY_BLOCK4(E3m0)
SKERRY_BLOCK4(E3m0F32)
#undef SKERRY_BLOCK4

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
