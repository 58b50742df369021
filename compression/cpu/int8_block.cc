#include "compression/cpu/int8_block.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/int8_block.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBlock = Int8Block::kElements;
// How far the encoder asks memory ahead.
constexpr size_t kBlocksAhead = 4;

// Bit pattern of the largest magnitude in a block. The patterns of magnitudes
// are ordered as the magnitudes are, with infinity and NaN above all others.
HWY_INLINE int32_t AbsMaxBits(const float* HWY_RESTRICT values) {
  const hn::ScalableTag<int32_t> di;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto* bits = reinterpret_cast<const int32_t*>(values);
  auto max0 = hn::Zero(di);
  auto max1 = hn::Zero(di);
  for (size_t i = 0; i < kBlock; i += 2 * lanes) {
    max0 = hn::Max(max0, hn::And(hn::LoadU(di, bits + i), magnitude));
    max1 = hn::Max(max1, hn::And(hn::LoadU(di, bits + i + lanes), magnitude));
  }
  return hn::GetLane(hn::MaxOfLanes(di, hn::Max(max0, max1)));
}

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
  const int32_t bits = AbsMaxBits(values);
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

bool EncodeAll(const float* HWY_RESTRICT values, size_t count,
               std::byte* HWY_RESTRICT out) {
  auto* codes = reinterpret_cast<uint8_t*>(out + Int8Block::Blocks(count) *
                                                     sizeof(float));
  const size_t whole = count / kBlock;
  for (size_t b = 0; b < whole; ++b) {
    const float* ahead =
        values + std::min(b + kBlocksAhead, whole - 1) * kBlock;
    if (!EncodeBlock(values + b * kBlock, ahead, out + b * sizeof(float),
                     codes + b * kBlock)) {
      return false;
    }
  }
  const size_t rest = count - whole * kBlock;
  if (rest == 0) return true;
  float padded[kBlock] = {};
  uint8_t padded_codes[kBlock];
  std::memcpy(padded, values + whole * kBlock, rest * sizeof(float));
  if (!EncodeBlock(padded, padded, out + whole * sizeof(float), padded_codes)) {
    return false;
  }
  std::memcpy(codes + whole * kBlock, padded_codes, rest);
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

template <bool kAdd>
bool DecodeAll(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  const auto* codes = reinterpret_cast<const int8_t*>(
      payload + Int8Block::Blocks(count) * sizeof(float));
  const size_t whole = count / kBlock;
  float scale;
  for (size_t b = 0; b < whole; ++b) {
    if (!LoadScale(payload + b * sizeof(float), scale)) return false;
    if (HasInvalidCode(codes + b * kBlock)) return false;
    Dequantize<kAdd>(codes + b * kBlock, scale, values + b * kBlock);
  }
  const size_t rest = count - whole * kBlock;
  if (rest == 0) return true;
  float padded[kBlock] = {};
  int8_t padded_codes[kBlock] = {};
  std::memcpy(padded, values + whole * kBlock, rest * sizeof(float));
  std::memcpy(padded_codes, codes + whole * kBlock, rest);
  if (!LoadScale(payload + whole * sizeof(float), scale)) return false;
  if (HasInvalidCode(padded_codes)) return false;
  Dequantize<kAdd>(padded_codes, scale, padded);
  std::memcpy(values + whole * kBlock, padded, rest * sizeof(float));
  return true;
}

bool DecodeSet(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  return DecodeAll<false>(payload, count, values);
}

bool DecodeSum(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  return DecodeAll<true>(payload, count, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(EncodeAll);
HWY_EXPORT(DecodeSet);
HWY_EXPORT(DecodeSum);

bool Int8Block::Encode(std::span<const float> values, std::byte* out) {
  return HWY_DYNAMIC_DISPATCH(EncodeAll)(values.data(), values.size(), out);
}

bool Int8Block::Decode(const std::byte* payload, std::span<float> values) {
  return HWY_DYNAMIC_DISPATCH(DecodeSet)(payload, values.size(), values.data());
}

bool Int8Block::DecodeAdd(const std::byte* payload,
                          std::span<float> accumulators) {
  return HWY_DYNAMIC_DISPATCH(DecodeSum)(payload, accumulators.size(),
                                         accumulators.data());
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
