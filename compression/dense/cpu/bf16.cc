#include "compression/dense/cpu/bf16.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/dense/cpu/bf16.cc"
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

constexpr size_t kChunk = Bf16::kElements;
constexpr uint32_t kInfinityBits = 0x7f800000;

// Rounds one chunk; `ahead` is one that is needed soon. False when a value is
// not finite.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// On halves of values, each a word: two permutations bring as many codes
// together as a vector holds.
template <class Out>
HWY_INLINE bool EncodeChunk(const float* HWY_RESTRICT values,
                            const float* HWY_RESTRICT ahead,
                            uint16_t* HWY_RESTRICT codes, Out& out) {
  const hn::ScalableTag<uint16_t> d16;
  const size_t lanes = hn::Lanes(d16);
  const auto magnitude = hn::Set(d16, uint16_t{0x7fff});
  const auto sign = hn::Set(d16, uint16_t{0x8000});
  const auto middle = sign;
  const auto one = hn::Set(d16, uint16_t{1});
  const auto largest = hn::Set(d16, uint16_t{0x7f7f});
  const auto* halves = reinterpret_cast<const uint16_t*>(values);
  auto absmax = hn::Zero(d16);
  for (size_t i = 0; i < kChunk; i += lanes) {
    hwy::Prefetch(ahead + i);
    hwy::Prefetch(ahead + i + lanes / 2);
    const auto first = hn::LoadU(d16, halves + 2 * i);
    const auto second = hn::LoadU(d16, halves + 2 * i + lanes);
    const auto upper = hn::ConcatOdd(d16, second, first);
    const auto lower = hn::ConcatEven(d16, second, first);
    const auto size = hn::And(upper, magnitude);
    absmax = hn::Max(absmax, size);
    // Above the middle, and in the middle of an odd code and the next.
    const auto up =
        hn::Gt(hn::SaturatedAdd(lower, hn::And(upper, one)), middle);
    const auto rounded = hn::IfThenElse(up, hn::Add(size, one), size);
    out.Put(hn::OrAnd(hn::Min(rounded, largest), upper, sign), d16, codes + i);
  }
  return hn::AllFalse(d16, hn::Gt(absmax, largest));
}
#else
template <class Out>
HWY_INLINE bool EncodeChunk(const float* HWY_RESTRICT values,
                            const float* HWY_RESTRICT ahead,
                            uint16_t* HWY_RESTRICT codes, Out& out) {
  const hn::ScalableTag<uint32_t> du;
  const hn::RebindToSigned<decltype(du)> di;
  const hn::Rebind<uint16_t, decltype(du)> d16;
  const size_t lanes = hn::Lanes(du);
  const auto magnitude = hn::Set(du, 0x7fffffffu);
  const auto half = hn::Set(du, 0x7fffu);
  const auto one = hn::Set(du, 1u);
  // The largest magnitude whose rounding stays finite.
  const auto largest = hn::Set(du, 0x7f7f7fffu);
  const auto* bits = reinterpret_cast<const uint32_t*>(values);
  auto absmax = hn::Zero(di);
  for (size_t i = 0; i < kChunk; i += lanes) {
    hwy::Prefetch(ahead + i);
    const auto raw = hn::LoadU(du, bits + i);
    const auto size = hn::And(raw, magnitude);
    absmax = hn::Max(absmax, hn::BitCast(di, size));
    const auto sign = hn::AndNot(magnitude, raw);
    // Magnitudes are below 2^31, where signed and unsigned order agree.
    const auto kept = hn::BitCast(
        du, hn::Min(hn::BitCast(di, size), hn::BitCast(di, largest)));
    const auto odd = hn::And(hn::ShiftRight<16>(kept), one);
    const auto rounded = hn::Add(kept, hn::Add(half, odd));
    const auto upper = hn::ShiftRight<16>(hn::Or(rounded, sign));
    out.Put(hn::TruncateTo(d16, upper), d16, codes + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, absmax)) <
         static_cast<int32_t>(kInfinityBits);
}
#endif  // HWY_TARGET

// Widens one chunk. False when a value is not finite.
template <class Out>
HWY_INLINE bool DecodeChunk(const uint16_t* HWY_RESTRICT codes,
                            float* HWY_RESTRICT values, Out& out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint16_t, decltype(df)> d16;
  const size_t lanes = hn::Lanes(df);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  auto absmax = hn::Zero(di);
  for (size_t i = 0; i < kChunk; i += lanes) {
    const auto bits =
        hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, codes + i)));
    absmax = hn::Max(absmax, hn::And(hn::BitCast(di, bits), magnitude));
    out.Put(hn::BitCast(df, bits), df, values + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, absmax)) <
         static_cast<int32_t>(kInfinityBits);
}

struct Bf16Body {
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

SKERRY_BLOCK_CODEC_TARGET(Bf16, Bf16Body)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

SKERRY_BLOCK_CODEC(Bf16)

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
