#include "compression/dense/cpu/int8_block.h"

#include <bit>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/dense/cpu/int8_block.cc"
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

constexpr size_t kBlock = Int8Block::kElements;
// One after another, each block would wait for its largest magnitude. More
// leave memory idle while those are looked for.
constexpr size_t kBlocksTogether = 2;

// Puts the codes of a block. `ahead` is one that is needed soon: this pass
// reads from cache, and memory would idle meanwhile.
template <class Out>
HWY_INLINE void Quantize(const float* HWY_RESTRICT values, float inverse,
                         const float* HWY_RESTRICT ahead,
                         uint8_t* HWY_RESTRICT codes, Out& out) {
  const hn::ScalableTag<float> df;
  const size_t lanes = hn::Lanes(df);
  const auto factor = hn::Set(df, inverse);
  const auto scaled_at = [&](size_t i) HWY_ATTR {
    hwy::Prefetch(ahead + i);
    return hn::Mul(hn::LoadU(df, values + i), factor);
  };
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // NearestInt also mends what is too large for an int32; nothing here is.
  const auto rounded_at = [&](size_t i) HWY_ATTR {
    return _mm512_cvtps_epi32(scaled_at(i).raw);
  };
  // Packing leaves four codes of each vector in every 128 bits.
  alignas(64) static constexpr int32_t kInOrder[16] = {
      0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const auto in_order = _mm512_load_si512(kInOrder);
  const hn::Repartition<uint8_t, decltype(df)> d8;
  for (size_t i = 0; i < kBlock; i += 4 * lanes) {
    const auto low = _mm512_packs_epi32(rounded_at(i), rounded_at(i + lanes));
    const auto high = _mm512_packs_epi32(rounded_at(i + 2 * lanes),
                                         rounded_at(i + 3 * lanes));
    const hn::VFromD<decltype(d8)> four{
        _mm512_permutexvar_epi32(in_order, _mm512_packs_epi16(low, high))};
    out.Put(four, d8, codes + i);
  }
#else
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  for (size_t i = 0; i < kBlock; i += lanes) {
    // Codes fit a byte, so their low bytes are their two's complement.
    out.Put(hn::TruncateTo(d8, hn::BitCast(du, hn::NearestInt(scaled_at(i)))),
            d8, codes + i);
  }
#endif
}

// Writes the scales of some blocks and puts their codes. False when a value is
// not finite.
template <size_t kBlocks, class Out>
HWY_INLINE bool EncodeTogether(const float* HWY_RESTRICT values,
                               const float* HWY_RESTRICT ahead,
                               std::byte* HWY_RESTRICT scales_out,
                               uint8_t* HWY_RESTRICT codes, Out& out) {
  int32_t bits[kBlocks];
  for (size_t b = 0; b < kBlocks; ++b) {
    bits[b] = AbsMaxBits<kBlock>(values + b * kBlock);
  }
  float inverses[kBlocks];
  for (size_t b = 0; b < kBlocks; ++b) {
    if (bits[b] >= 0x7f800000) return false;
    const auto [scale, inverse] =
        Int8Block::ScaleOf(std::bit_cast<float>(bits[b]));
    inverses[b] = inverse;
    std::memcpy(scales_out + b * sizeof(scale), &scale, sizeof(scale));
  }
  for (size_t b = 0; b < kBlocks; ++b) {
    Quantize(values + b * kBlock, inverses[b], ahead + b * kBlock,
             codes + b * kBlock, out);
  }
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

template <class Out>
HWY_INLINE void Dequantize(const int8_t* HWY_RESTRICT codes, float scale,
                           float* HWY_RESTRICT values, Out& out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> d32;
  const hn::Rebind<int8_t, decltype(df)> d8;
  const size_t lanes = hn::Lanes(df);
  const auto factor = hn::Set(df, scale);
  for (size_t i = 0; i < kBlock; i += lanes) {
    const auto code = hn::PromoteTo(d32, hn::LoadU(d8, codes + i));
    out.Put(hn::Mul(hn::ConvertTo(df, code), factor), df, values + i);
  }
}

HWY_INLINE bool LoadScale(const std::byte* at, float& scale) {
  std::memcpy(&scale, at, sizeof(scale));
  return Int8Block::IsScale(scale);
}

struct Int8BlockBody {
  static constexpr size_t kRun = kBlocksTogether;
  static constexpr float kPad = 0.0f;

  HWY_INLINE bool Encode(size_t, const float* HWY_RESTRICT values, size_t,
                         const float* HWY_RESTRICT ahead, std::byte* scale,
                         std::byte* HWY_RESTRICT codes) const {
    Overwrite out;
    return EncodeTogether<1>(values, ahead, scale,
                             reinterpret_cast<uint8_t*>(codes), out);
  }
  HWY_INLINE bool EncodeRun(size_t, const float* HWY_RESTRICT values,
                            const float* HWY_RESTRICT ahead, std::byte* scales,
                            std::byte* HWY_RESTRICT codes) const {
    Overwrite out;
    return EncodeTo(values, ahead, scales, codes, out);
  }
  template <class Out>
  HWY_INLINE bool EncodeTo(const float* HWY_RESTRICT values,
                           const float* HWY_RESTRICT ahead, std::byte* scales,
                           std::byte* HWY_RESTRICT codes, Out& out) const {
    return EncodeTogether<kRun>(values, ahead, scales,
                                reinterpret_cast<uint8_t*>(codes), out);
  }
  template <class Out>
  HWY_INLINE bool Decode(const std::byte* scale_at, const std::byte* codes_at,
                         float* HWY_RESTRICT values, Out& out) const {
    float scale;
    const auto* codes = reinterpret_cast<const int8_t*>(codes_at);
    if (!LoadScale(scale_at, scale) || HasInvalidCode(codes)) return false;
    Dequantize(codes, scale, values, out);
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
