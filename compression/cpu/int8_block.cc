#include "compression/cpu/int8_block.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/int8_block.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/cpu/blocks-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBlock = Int8Block::kElements;

// `ahead` is a block that is needed soon: this pass reads from cache, and
// memory would idle meanwhile.
HWY_INLINE void Quantize(const float* HWY_RESTRICT values, float inverse,
                         const float* HWY_RESTRICT ahead,
                         uint8_t* HWY_RESTRICT codes) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  const size_t lanes = hn::Lanes(df);
  const auto factor = hn::Set(df, inverse);
  for (size_t i = 0; i < kBlock; i += lanes) {
    hwy::Prefetch(ahead + i);
    const auto rounded =
        hn::NearestInt(hn::Mul(hn::LoadU(df, values + i), factor));
    // Codes fit a byte, so their low bytes are their two's complement.
    hn::StoreU(hn::TruncateTo(d8, hn::BitCast(du, rounded)), d8, codes + i);
  }
}

// Writes one block's scale and codes. False when a value is not finite.
HWY_INLINE bool EncodeBlock(const float* HWY_RESTRICT values,
                            const float* HWY_RESTRICT ahead,
                            std::byte* HWY_RESTRICT scale_out,
                            uint8_t* HWY_RESTRICT codes) {
  const int32_t bits = AbsMaxBits<kBlock>(values);
  if (bits >= 0x7f800000) return false;
  const float absmax = std::bit_cast<float>(bits);
  float scale = 0.0f;
  if (absmax < Int8Block::kAbsMaxMin) {
    std::memset(codes, 0, kBlock);
  } else {
    scale = std::min(absmax / 127.0f, Int8Block::kScaleMax);
    Quantize(values, 127.0f / absmax, ahead, codes);
  }
  std::memcpy(scale_out, &scale, sizeof(scale));
  return true;
}

HWY_INLINE bool HasInvalidCode(const int8_t* HWY_RESTRICT codes) {
  const hn::CappedTag<int8_t, kBlock> d8;
  const size_t lanes = hn::Lanes(d8);
  const auto invalid = hn::Set(d8, int8_t{-128});
  auto found = hn::Eq(hn::LoadU(d8, codes), invalid);
  for (size_t i = lanes; i < kBlock; i += lanes) {
    found = hn::Or(found, hn::Eq(hn::LoadU(d8, codes + i), invalid));
  }
  return !hn::AllFalse(d8, found);
}

template <bool kAdd>
HWY_INLINE void Dequantize(const int8_t* HWY_RESTRICT codes, float scale,
                           float* HWY_RESTRICT values) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> d32;
  const hn::Rebind<int8_t, decltype(df)> d8;
  const size_t lanes = hn::Lanes(df);
  const auto factor = hn::Set(df, scale);
  for (size_t i = 0; i < kBlock; i += lanes) {
    const auto code = hn::PromoteTo(d32, hn::LoadU(d8, codes + i));
    auto value = hn::Mul(hn::ConvertTo(df, code), factor);
    if constexpr (kAdd) value = hn::Add(hn::LoadU(df, values + i), value);
    hn::StoreU(value, df, values + i);
  }
}

HWY_INLINE bool LoadScale(const std::byte* at, float& scale) {
  std::memcpy(&scale, at, sizeof(scale));
  // Also false for NaN. Minus zero passes: it decodes to zeros.
  return scale == 0.0f ||
         (scale >= Int8Block::kScaleMin && scale <= Int8Block::kScaleMax);
}

struct Int8BlockBody {
  static constexpr size_t kRun = 1;
  static constexpr float kPad = 0.0f;

  HWY_INLINE bool Encode(size_t, const float* HWY_RESTRICT values, size_t,
                         const float* HWY_RESTRICT ahead, std::byte* scale,
                         std::byte* HWY_RESTRICT codes) const {
    return EncodeBlock(values, ahead, scale, reinterpret_cast<uint8_t*>(codes));
  }
  template <bool kAdd>
  HWY_INLINE bool Decode(const std::byte* scale_at, const std::byte* codes_at,
                         float* HWY_RESTRICT values) const {
    float scale;
    const auto* codes = reinterpret_cast<const int8_t*>(codes_at);
    if (!LoadScale(scale_at, scale) || HasInvalidCode(codes)) return false;
    Dequantize<kAdd>(codes, scale, values);
    return true;
  }
};

SKERRY_BLOCK_CODEC_TARGET(Int8Block, Int8BlockBody)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

SKERRY_BLOCK_CODEC(Int8Block)

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
