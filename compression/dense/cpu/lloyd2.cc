#include "compression/dense/cpu/lloyd2.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "compression/dense/cpu/rms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/dense/cpu/lloyd2.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/dense/cpu/blocks-inl.h"
#include "compression/dense/cpu/sums-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBlock = Lloyd2::kElements;
// One after another, each block would wait for its sum.
constexpr size_t kBlocksTogether = 2;

// A value's magnitude times that of its level. Such products of fp32 are exact
// in float64.
struct LevelProduct {
  double midpoint;

  template <class V>
  HWY_INLINE V operator()(V x, V sum) const {
    const hn::DFromV<V> d;
    const V size = hn::Abs(x);
    const V level = hn::IfThenElse(hn::Gt(size, hn::Set(d, midpoint)),
                                   hn::Set(d, double{kLloyd2Outer}),
                                   hn::Set(d, double{kLloyd2Inner}));
    return hn::MulAdd(size, level, sum);
  }
};

// Writes the codes of a block, four a byte, and returns how many values have an
// outer level. The upper bit of a code is set where the sign bit is clear. The
// lower one says that the level is the greater one of that sign.
HWY_INLINE size_t PackCodes(const float* HWY_RESTRICT values, float midpoint,
                            uint8_t* HWY_RESTRICT packed) {
  size_t outers = 0;
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < kBlock; i += 4) {
    unsigned byte = 0;
    for (size_t j = 0; j < 4; ++j) {
      const unsigned minus = std::signbit(values[i + j]) ? 1 : 0;
      const unsigned outer = std::fabs(values[i + j]) > midpoint ? 1 : 0;
      byte |= ((1 - minus) << 1 | (outer ^ minus)) << (2 * j);
      outers += outer;
    }
    packed[i / 4] = static_cast<uint8_t>(byte);
  }
#else
  const hn::CappedTag<float, 16> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Rebind<uint8_t, decltype(du)> d8;
  const size_t lanes = hn::Lanes(df);
  const auto above = hn::Set(df, midpoint);
  const auto two = hn::Set(du, 2u);
  HWY_ALIGN uint8_t codes[kBlock];
  for (size_t i = 0; i < kBlock; i += lanes) {
    const auto x = hn::LoadU(df, values + i);
    const auto minus = hn::ShiftRight<31>(hn::BitCast(du, x));
    const auto is_outer = hn::Gt(hn::Abs(x), above);
    outers += hn::CountTrue(df, is_outer);
    // A true lane is all ones.
    const auto outer =
        hn::ShiftRight<31>(hn::BitCast(du, hn::VecFromMask(df, is_outer)));
    // 2 (1 - minus) + (outer xor minus)
    const auto code =
        hn::Add(hn::Xor(outer, minus), hn::Sub(two, hn::Add(minus, minus)));
    hn::StoreU(hn::TruncateTo(d8, code), d8, codes + i);
  }
  for (size_t i = 0; i < kBlock; i += 4 * lanes) {
    const auto apart =
        hn::LoadU(du, reinterpret_cast<const uint32_t*>(codes + i));
    const auto pairs = hn::Or(apart, hn::ShiftRight<6>(apart));
    const auto byte =
        hn::And(hn::Or(pairs, hn::ShiftRight<12>(pairs)), hn::Set(du, 0xffu));
    hn::StoreU(hn::TruncateTo(d8, byte), d8, packed + i / 4);
  }
#endif
  return outers;
}

template <class Out>
HWY_INLINE void UnpackCodes(const uint8_t* HWY_RESTRICT packed, float scale,
                            float* HWY_RESTRICT values, Out& out) {
  const hn::CappedTag<float, 16> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const size_t lanes = hn::Lanes(df);
  const auto inner = hn::BitCast(du, hn::Set(df, kLloyd2Inner * scale));
  const auto outer = hn::BitCast(du, hn::Set(df, kLloyd2Outer * scale));
  // What has to be flipped to make one of the other.
  const auto flip = hn::Xor(inner, outer);
  const auto one = hn::Set(du, 1u);
  const auto top = hn::Set(du, 0x80000000u);
  const auto iota = hn::Iota(du, 0);
  const auto bit = hn::Add(iota, iota);
  for (size_t i = 0; i < kBlock; i += 16) {
    uint32_t word;
    std::memcpy(&word, packed + i / 4, sizeof(word));
    for (size_t j = 0; j < 16; j += lanes) {
      const auto code = hn::Shr(hn::Set(du, word >> (2 * j)), bit);
      const auto plus = hn::ShiftRight<1>(code);
      // 0 where both bits are the same, which is the outer level.
      const auto is_inner = hn::And(hn::Xor(code, plus), one);
      // All ones where it is 0.
      const auto mask = hn::Sub(is_inner, one);
      const auto size = hn::Xor(inner, hn::And(flip, mask));
      const auto sign = hn::AndNot(hn::ShiftLeft<30>(code), top);
      out.Put(hn::BitCast(df, hn::Or(size, sign)), df, values + i + j);
    }
  }
}

HWY_INLINE bool LoadScale(const std::byte* at, float& scale) {
  std::memcpy(&scale, at, sizeof(scale));
  // A set sign would turn every value round, also that of a zero.
  return (scale == 0.0f && !std::signbit(scale)) ||
         (scale >= kRmsScaleMin && scale <= kLloyd2ScaleMax);
}

// Writes the scales and codes of some blocks, of which the last has `size`
// values that count. False when a value is not finite.
template <size_t kBlocks>
HWY_INLINE bool EncodeTogether(const float* HWY_RESTRICT values, size_t size,
                               std::byte* HWY_RESTRICT scales,
                               std::byte* HWY_RESTRICT codes) {
  double sums[kBlocks];
  for (size_t b = 0; b < kBlocks; ++b) {
    sums[b] = SumOf<kBlock>(values + b * kBlock, Square());
  }
  for (size_t b = 0; b < kBlocks; ++b) {
    if (!std::isfinite(sums[b])) return false;
    const size_t count = b + 1 == kBlocks ? size : kBlock;
    const float midpoint = kLloyd2Midpoint * RmsScale(sums[b], count);
    const float* const block = values + b * kBlock;
    const size_t outer = PackCodes(
        block, midpoint,
        reinterpret_cast<uint8_t*>(codes + b * Lloyd2::kBlockCodeBytes));
    const float scale =
        Lloyd2Scale(SumOf<kBlock>(block, LevelProduct{midpoint}), count, outer);
    std::memcpy(scales + b * sizeof(scale), &scale, sizeof(scale));
  }
  return true;
}

struct Lloyd2Body {
  static constexpr size_t kRun = kBlocksTogether;
  // Adds nothing to the sum; its code is cut off.
  static constexpr float kPad = 0.0f;

  HWY_INLINE bool Encode(size_t, const float* HWY_RESTRICT values, size_t size,
                         const float*, std::byte* scale_out,
                         std::byte* HWY_RESTRICT codes) const {
    return EncodeTogether<1>(values, size, scale_out, codes);
  }
  HWY_INLINE bool EncodeRun(size_t, const float* HWY_RESTRICT values,
                            const float*, std::byte* scales,
                            std::byte* HWY_RESTRICT codes) const {
    return EncodeTogether<kRun>(values, kBlock, scales, codes);
  }
  template <class Out>
  HWY_INLINE bool Decode(const std::byte* scale_at, const std::byte* codes,
                         float* HWY_RESTRICT values, Out& out) const {
    float scale;
    if (!LoadScale(scale_at, scale)) return false;
    UnpackCodes(reinterpret_cast<const uint8_t*>(codes), scale, values, out);
    return true;
  }
};

SKERRY_BLOCK_CODEC_TARGET(Lloyd2, Lloyd2Body)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

SKERRY_BLOCK_CODEC(Lloyd2)

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
