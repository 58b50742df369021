#include "compression/dense/cpu/raw_f32.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/dense/cpu/raw_f32.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/dense/cpu/blocks-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kChunk = RawF32::kElements;

// Puts one chunk to `to`. False when a value of `from` is not finite.
template <class Out>
HWY_INLINE bool MoveChunk(const float* HWY_RESTRICT from,
                          float* HWY_RESTRICT to, Out& out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const size_t lanes = hn::Lanes(df);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  auto absmax = hn::Zero(di);
  for (size_t i = 0; i < kChunk; i += lanes) {
    const auto value = hn::LoadU(df, from + i);
    absmax = hn::Max(absmax, hn::And(hn::BitCast(di, value), magnitude));
    out.Put(value, df, to + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, absmax)) < 0x7f800000;
}

struct RawF32Body {
  static constexpr size_t kRun = 1;
  static constexpr float kPad = 0.0f;

  template <class Out>
  HWY_INLINE bool EncodeTo(const float* HWY_RESTRICT values, const float*,
                           std::byte*, std::byte* HWY_RESTRICT codes,
                           Out& out) const {
    return MoveChunk(values, reinterpret_cast<float*>(codes), out);
  }
  HWY_INLINE bool Encode(size_t, const float* HWY_RESTRICT values, size_t,
                         const float* ahead, std::byte* scale,
                         std::byte* HWY_RESTRICT codes) const {
    Overwrite out;
    return EncodeTo(values, ahead, scale, codes, out);
  }
  template <class Out>
  HWY_INLINE bool Decode(const std::byte*, const std::byte* HWY_RESTRICT codes,
                         float* HWY_RESTRICT values, Out& out) const {
    return MoveChunk(reinterpret_cast<const float*>(codes), values, out);
  }
};

SKERRY_BLOCK_CODEC_TARGET(RawF32, RawF32Body)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

SKERRY_BLOCK_CODEC(RawF32)

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
