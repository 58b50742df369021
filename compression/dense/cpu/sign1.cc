#include "compression/dense/cpu/sign1.h"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "compression/dense/cpu/rms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/dense/cpu/sign1.cc"
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

constexpr size_t kBlock = Sign1::kElements;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr size_t kBlocksTogether = 1;
#else
// One after another, each block would wait for its sum.
constexpr size_t kBlocksTogether = 2;
#endif

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// The complements of 64 sign bits, first value in the highest bit of a byte.
HWY_INLINE void PackSigns64(const float* HWY_RESTRICT values,
                            uint8_t* HWY_RESTRICT bits) {
  const hn::Full512<int32_t> di;
  const hn::Full512<uint8_t> d8;
  const auto* patterns = reinterpret_cast<const int32_t*>(values);
  // Packing keeps signs, and leaves four values of each vector in every 128
  // bits.
  alignas(64) static constexpr int32_t kInOrder[16] = {
      0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  alignas(16) static constexpr uint8_t kReversed[16] = {
      7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8};
  const auto low = _mm512_packs_epi32(hn::LoadU(di, patterns).raw,
                                      hn::LoadU(di, patterns + 16).raw);
  const auto high = _mm512_packs_epi32(hn::LoadU(di, patterns + 32).raw,
                                       hn::LoadU(di, patterns + 48).raw);
  const hn::VFromD<decltype(d8)> in_order{_mm512_permutexvar_epi32(
      hn::Load(di, kInOrder).raw, _mm512_packs_epi16(low, high))};
  const auto reversed =
      hn::TableLookupBytes(in_order, hn::LoadDup128(d8, kReversed));
  const uint64_t word =
      _mm512_testn_epi8_mask(reversed.raw, hn::Set(d8, uint8_t{0x80}).raw);
  std::memcpy(bits, &word, sizeof(word));
}

// The signs of some blocks; `sums` become those of the squares of each,
// infinite or NaN when a value is.
//
// Values are read once and in order, which is as memory reads fastest: asking
// ahead costs a little, and two blocks in one loop half of the speed.
template <size_t kBlocks>
HWY_INLINE void SumAndPack(const float* HWY_RESTRICT values,
                           double* HWY_RESTRICT sums,
                           uint8_t* HWY_RESTRICT bits) {
  for (size_t b = 0; b < kBlocks; ++b) {
    TermSums<Square> squares{Square()};
    for (size_t i = b * kBlock; i < (b + 1) * kBlock; i += 64) {
      squares.Add16(values + i);
      squares.Add16(values + i + 16);
      squares.Add16(values + i + 32);
      squares.Add16(values + i + 48);
      PackSigns64(values + i, bits + i / 8);
    }
    sums[b] = squares.Total();
  }
}
#else
// The complement of each sign bit, first value in the highest bit.
HWY_INLINE void PackSigns(const float* HWY_RESTRICT values,
                          uint8_t* HWY_RESTRICT bits) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < kBlock / 8; ++i) {
    uint8_t byte = 0;
    for (size_t j = 0; j < 8; ++j) {
      byte = byte << 1 | (std::signbit(values[8 * i + j]) ? 0 : 1);
    }
    bits[i] = byte;
  }
#else
  const hn::ScalableTag<uint32_t> du;
  const hn::Rebind<uint8_t, decltype(du)> d8;
  const size_t lanes = hn::Lanes(du);
  HWY_ALIGN uint8_t positive[kBlock];
  const auto* patterns = reinterpret_cast<const uint32_t*>(values);
  for (size_t i = 0; i < kBlock; i += lanes) {
    // 0 for a set sign, 255 otherwise.
    const auto sign = hn::ShiftRight<31>(hn::LoadU(du, patterns + i));
    const auto byte =
        hn::And(hn::Sub(sign, hn::Set(du, 1u)), hn::Set(du, 0xffu));
    hn::StoreU(hn::TruncateTo(d8, byte), d8, positive + i);
  }
  const hn::FixedTag<uint8_t, 16> d16;
  HWY_ALIGN static constexpr uint8_t kReversed[16] = {
      7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8};
  const auto reversed = hn::Load(d16, kReversed);
  for (size_t i = 0; i < kBlock; i += 16) {
    const auto group =
        hn::TableLookupBytes(hn::Load(d16, positive + i), reversed);
    uint8_t mask[8] = {};
    hn::StoreMaskBits(d16, hn::MaskFromVec(group), mask);
    std::memcpy(bits + i / 8, mask, 2);
  }
#endif
}

// `sums` become those of the squares of each block.
template <size_t kBlocks>
HWY_INLINE void SumAndPack(const float* HWY_RESTRICT values,
                           double* HWY_RESTRICT sums,
                           uint8_t* HWY_RESTRICT bits) {
  for (size_t b = 0; b < kBlocks; ++b) {
    sums[b] = SumOf<kBlock>(values + b * kBlock, Square());
  }
  for (size_t b = 0; b < kBlocks; ++b) {
    PackSigns(values + b * kBlock, bits + b * Sign1::kBlockCodeBytes);
  }
}
#endif  // HWY_TARGET

template <class Out>
HWY_INLINE void UnpackSigns(const uint8_t* HWY_RESTRICT bits, float scale,
                            float* HWY_RESTRICT values, Out& out) {
  const hn::CappedTag<float, 16> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const size_t lanes = hn::Lanes(df);
  const auto size = hn::BitCast(du, hn::Set(df, scale));
  const auto top = hn::Set(du, 0x80000000u);
  const auto lane = hn::Iota(du, 0);
  for (size_t i = 0; i < kBlock; i += 32) {
    uint32_t word;
    std::memcpy(&word, bits + i / 8, sizeof(word));
    word = __builtin_bswap32(word);
    for (size_t j = 0; j < 32; j += lanes) {
      const auto bit = hn::Shl(hn::Set(du, word << j), lane);
      out.Put(hn::BitCast(df, hn::Or(size, hn::AndNot(bit, top))), df,
              values + i + j);
    }
  }
}

HWY_INLINE bool LoadScale(const std::byte* at, float& scale) {
  std::memcpy(&scale, at, sizeof(scale));
  // A set sign would turn every value round, also that of a zero.
  return (scale == 0.0f && !std::signbit(scale)) ||
         (scale >= kRmsScaleMin && scale <= FLT_MAX);
}

// Writes the sums of squares and the signs of some blocks. False when a value
// is not finite.
template <size_t kBlocks>
HWY_INLINE bool EncodeTogether(const float* HWY_RESTRICT values,
                               double* HWY_RESTRICT sums,
                               std::byte* HWY_RESTRICT codes) {
  SumAndPack<kBlocks>(values, sums, reinterpret_cast<uint8_t*>(codes));
  bool finite = true;
  for (size_t b = 0; b < kBlocks; ++b) {
    finite = finite && std::isfinite(sums[b]);
  }
  return finite;
}

struct Sign1Body {
  static constexpr size_t kRun = kBlocksTogether;
  // Minus zero adds nothing to the sum and has the bit 0.
  static constexpr float kPad = -0.0f;

  HWY_INLINE bool Encode(size_t, const float* HWY_RESTRICT values, size_t size,
                         const float*, std::byte* scale_out,
                         std::byte* HWY_RESTRICT codes) const {
    double sum;
    if (!EncodeTogether<1>(values, &sum, codes)) return false;
    const float scale = RmsScale(sum, size);
    std::memcpy(scale_out, &scale, sizeof(scale));
    return true;
  }
  HWY_INLINE bool EncodeRun(size_t, const float* HWY_RESTRICT values,
                            const float*, std::byte* scales,
                            std::byte* HWY_RESTRICT codes) const {
    double sums[kRun];
    if (!EncodeTogether<kRun>(values, sums, codes)) return false;
    for (size_t b = 0; b < kRun; ++b) {
      const float scale = RmsScale(sums[b], kBlock);
      std::memcpy(scales + b * sizeof(scale), &scale, sizeof(scale));
    }
    return true;
  }
  template <class Out>
  HWY_INLINE bool Decode(const std::byte* scale_at, const std::byte* codes,
                         float* HWY_RESTRICT values, Out& out) const {
    float scale;
    if (!LoadScale(scale_at, scale)) return false;
    UnpackSigns(reinterpret_cast<const uint8_t*>(codes), scale, values, out);
    return true;
  }
};

// Leaves sums instead of scales.
struct Sign1WholeBody : Sign1Body {
  double* sums;

  HWY_INLINE bool Encode(size_t block, const float* HWY_RESTRICT values, size_t,
                         const float*, std::byte*,
                         std::byte* HWY_RESTRICT codes) const {
    return EncodeTogether<1>(values, sums + block, codes);
  }
  HWY_INLINE bool EncodeRun(size_t block, const float* HWY_RESTRICT values,
                            const float*, std::byte*,
                            std::byte* HWY_RESTRICT codes) const {
    return EncodeTogether<kRun>(values, sums + block, codes);
  }
};

SKERRY_BLOCK_CODEC_TARGET(Sign1, Sign1Body)

bool EncodeWhole(const float* HWY_RESTRICT values, size_t count, size_t begin,
                 size_t end, std::byte* HWY_RESTRICT payload, double* sums) {
  return EncodeBlocks<Sign1Whole>(Sign1WholeBody{{}, sums}, values, count,
                                  begin, end, payload, Stores::kCached);
}
bool DecodeWhole(const std::byte* HWY_RESTRICT payload, size_t count,
                 size_t begin, size_t end, float* HWY_RESTRICT values,
                 Stores stores) {
  return DecodeBlocks<Sign1Whole, Sign1Body, Overwrite>(
      {}, payload, count, begin, end, values, stores);
}
bool DecodeAddWhole(const std::byte* HWY_RESTRICT payload, size_t count,
                    size_t begin, size_t end, float* HWY_RESTRICT values) {
  return DecodeBlocks<Sign1Whole, Sign1Body, AddTo>(
      {}, payload, count, begin, end, values, Stores::kCached);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

SKERRY_BLOCK_CODEC(Sign1)

HWY_EXPORT(EncodeWhole);
HWY_EXPORT(DecodeWhole);
HWY_EXPORT(DecodeAddWhole);

bool Sign1Whole::EncodeBlocks(std::span<const float> values, size_t begin,
                              size_t count, std::byte* payload, double* sums) {
  return HWY_DYNAMIC_DISPATCH(EncodeWhole)(
      values.data(), count, begin, begin + values.size(), payload, sums);
}

void Sign1Whole::WriteScale(std::span<const double> sums, size_t elements,
                            std::byte* payload) {
  double total = 0.0;
  for (const double sum : sums) total += sum;
  const float scale = RmsScale(total, elements);
  std::memcpy(payload, &scale, sizeof(scale));
}

bool Sign1Whole::DecodeBlocks(const std::byte* payload, size_t begin,
                              size_t count, std::span<float> values,
                              Stores stores) {
  return HWY_DYNAMIC_DISPATCH(DecodeWhole)(
      payload, count, begin, begin + values.size(), values.data(), stores);
}

bool Sign1Whole::DecodeAddBlocks(const std::byte* payload, size_t begin,
                                 size_t count, std::span<float> accumulators) {
  return HWY_DYNAMIC_DISPATCH(DecodeAddWhole)(
      payload, count, begin, begin + accumulators.size(), accumulators.data());
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
