#include "compression/dense/cpu/fp16.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/dense/cpu/fp16.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/dense/cpu/blocks-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kChunk = Fp16::kElements;
constexpr int32_t kInfinityBits = 0x7f800000;
constexpr int32_t kHalfInfinityBits = 0x7c00;
// The largest magnitude whose rounding stays finite.
constexpr int32_t kLargestBits = 0x477fefff;

// Rounds one chunk; `ahead` is one that is needed soon. False when a value is
// not finite.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// By the instruction, which rounds as told and heeds no mode of the processor
// that would change a half.
template <class Out>
HWY_INLINE bool EncodeChunk(const float* HWY_RESTRICT values,
                            const float* HWY_RESTRICT ahead,
                            uint16_t* HWY_RESTRICT codes, Out& out) {
  const hn::Full512<int32_t> di;
  const hn::Full512<uint16_t> d16;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto sign = hn::Set(di, INT32_MIN);
  const auto largest = hn::Set(di, kLargestBits);
  const auto* bits = reinterpret_cast<const int32_t*>(values);
  auto absmax = hn::Zero(di);
  const auto codes_at = [&](size_t i) HWY_ATTR {
    hwy::Prefetch(ahead + i);
    const auto raw = hn::LoadU(di, bits + i);
    const auto size = hn::And(raw, magnitude);
    absmax = hn::Max(absmax, size);
    const auto kept = hn::OrAnd(hn::Min(size, largest), raw, sign);
    return hn::Vec256<uint16_t>{_mm512_cvtps_ph(_mm512_castsi512_ps(kept.raw),
                                                _MM_FROUND_TO_NEAREST_INT)};
  };
  // As many as a vector holds.
  for (size_t i = 0; i < kChunk; i += 2 * lanes) {
    const auto first = codes_at(i);
    out.Put(hn::Combine(d16, codes_at(i + lanes), first), d16, codes + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, absmax)) < kInfinityBits;
}
#else
// Among the subnormal halves the unit in the last place is 2^-24, which is that
// of the fp32 numbers in [0.5, 1): adding 0.5 rounds there.
template <class Out>
HWY_INLINE bool EncodeChunk(const float* HWY_RESTRICT values,
                            const float* HWY_RESTRICT ahead,
                            uint16_t* HWY_RESTRICT codes, Out& out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::RebindToSigned<decltype(df)> di;
  const size_t lanes = hn::Lanes(df);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto one = hn::Set(di, 1);
  const auto largest = hn::Set(di, kLargestBits);
  // From the fp32 exponent to that of a half, and half a unit less one.
  const auto rebias = hn::Set(di, 0xfff - (112 << 23));
  const auto smallest_normal = hn::Set(di, 113 << 23);
  const auto half = hn::Set(df, 0.5f);
  const auto half_bits = hn::BitCast(di, half);
  const auto* bits = reinterpret_cast<const int32_t*>(values);
  auto absmax = hn::Zero(di);
  const auto code_at = [&](size_t i) HWY_ATTR {
    hwy::Prefetch(ahead + i);
    const auto raw = hn::LoadU(di, bits + i);
    const auto size = hn::And(raw, magnitude);
    absmax = hn::Max(absmax, size);
    const auto kept = hn::Min(size, largest);
    const auto odd = hn::And(hn::ShiftRight<13>(kept), one);
    const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(kept, rebias), odd));
    const auto subnormal = hn::Sub(
        hn::BitCast(di, hn::Add(hn::BitCast(df, kept), half)), half_bits);
    const auto code =
        hn::IfThenElse(hn::Lt(kept, smallest_normal), subnormal, normal);
    const auto sign =
        hn::ShiftRight<16>(hn::BitCast(du, hn::AndNot(magnitude, raw)));
    return hn::Or(hn::BitCast(du, code), sign);
  };
  const hn::Rebind<uint16_t, decltype(df)> d16;
  for (size_t i = 0; i < kChunk; i += lanes) {
    out.Put(hn::TruncateTo(d16, code_at(i)), d16, codes + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, absmax)) < kInfinityBits;
}
#endif  // HWY_TARGET

// Widens one chunk. False when a value is not finite.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// By the instruction, which is exact and heeds no mode of the processor.
template <class Out>
HWY_INLINE bool DecodeChunk(const uint16_t* HWY_RESTRICT codes,
                            float* HWY_RESTRICT values, Out& out) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<uint16_t, decltype(df)> d16;
  const size_t lanes = hn::Lanes(df);
  const auto magnitude = hn::Set(d16, uint16_t{0x7fff});
  const auto last_finite = hn::Set(d16, uint16_t{kHalfInfinityBits - 1});
  auto absmax = hn::Zero(d16);
  for (size_t i = 0; i < kChunk; i += lanes) {
    const auto code = hn::LoadU(d16, codes + i);
    absmax = hn::Max(absmax, hn::And(code, magnitude));
    out.Put(hn::Vec<decltype(df)>{_mm512_cvtph_ps(code.raw)}, df, values + i);
  }
  return hn::AllFalse(d16, hn::Gt(absmax, last_finite));
}
#else
template <class Out>
HWY_INLINE bool DecodeChunk(const uint16_t* HWY_RESTRICT codes,
                            float* HWY_RESTRICT values, Out& out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Rebind<uint16_t, decltype(df)> d16;
  const size_t lanes = hn::Lanes(df);
  const auto magnitude = hn::Set(di, 0x7fff);
  const auto rebias = hn::Set(di, 112 << 23);
  const auto smallest_normal = hn::Set(di, 113 << 23);
  auto absmax = hn::Zero(di);
  for (size_t i = 0; i < kChunk; i += lanes) {
    const auto code =
        hn::BitCast(di, hn::PromoteTo(du, hn::LoadU(d16, codes + i)));
    const auto size = hn::And(code, magnitude);
    absmax = hn::Max(absmax, size);
    const auto normal = hn::Add(hn::ShiftLeft<13>(size), rebias);
    // A subnormal has no leading one: put it there, and take it away.
    const auto subnormal = hn::Sub(
        hn::BitCast(df, hn::Add(hn::ShiftLeft<13>(size), smallest_normal)),
        hn::BitCast(df, smallest_normal));
    const auto wide = hn::IfThenElse(hn::Lt(normal, smallest_normal),
                                     hn::BitCast(di, subnormal), normal);
    const auto sign = hn::ShiftLeft<16>(hn::AndNot(magnitude, code));
    out.Put(hn::BitCast(df, hn::Or(wide, sign)), df, values + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, absmax)) < kHalfInfinityBits;
}
#endif  // HWY_TARGET

struct Fp16Body {
  static constexpr size_t kRun = 1;
  static constexpr float kPad = 0.0f;

  template <class Out>
  HWY_INLINE bool EncodeTo(const float* HWY_RESTRICT values,
                           const float* HWY_RESTRICT ahead, std::byte*,
                           std::byte* HWY_RESTRICT codes, Out& out) const {
    return EncodeChunk(values, ahead, reinterpret_cast<uint16_t*>(codes), out);
  }
  HWY_INLINE bool Encode(size_t, const float* HWY_RESTRICT values, size_t,
                         const float* HWY_RESTRICT ahead, std::byte*,
                         std::byte* HWY_RESTRICT codes) const {
    Overwrite out;
    return EncodeTo(values, ahead, nullptr, codes, out);
  }
  template <class Out>
  HWY_INLINE bool Decode(const std::byte*, const std::byte* HWY_RESTRICT codes,
                         float* HWY_RESTRICT values, Out& out) const {
    return DecodeChunk(reinterpret_cast<const uint16_t*>(codes), values, out);
  }
};

SKERRY_BLOCK_CODEC_TARGET(Fp16, Fp16Body)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

SKERRY_BLOCK_CODEC(Fp16)

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
