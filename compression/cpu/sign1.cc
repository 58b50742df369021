#include "compression/cpu/sign1.h"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/sign1.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBlock = kSign1Block;
constexpr size_t kBlockBytes = kBlock / 8;
// The partial sums of a block: value i goes to sum i % kSums.
constexpr size_t kSums = 16;

// The sum of squares of a block; infinite or NaN when a value is.
HWY_INLINE double SumOfSquares(const float* HWY_RESTRICT values) {
  const hn::CappedTag<double, kSums / 2> d64;
  const hn::Rebind<float, decltype(d64)> d32;
  const size_t lanes = hn::Lanes(d64);
  HWY_ALIGN double sums[kSums];
  for (size_t j = 0; j < kSums; j += 2 * lanes) {
    auto sum0 = hn::Zero(d64);
    auto sum1 = hn::Zero(d64);
    for (size_t i = j; i < kBlock; i += kSums) {
      const auto x0 = hn::PromoteTo(d64, hn::LoadU(d32, values + i));
      const auto x1 = hn::PromoteTo(d64, hn::LoadU(d32, values + i + lanes));
      sum0 = hn::Add(sum0, hn::Mul(x0, x0));
      sum1 = hn::Add(sum1, hn::Mul(x1, x1));
    }
    hn::StoreU(sum0, d64, sums + j);
    hn::StoreU(sum1, d64, sums + j + lanes);
  }
  for (size_t step = kSums / 2; step > 0; step /= 2) {
    for (size_t j = 0; j < step; ++j) sums[j] += sums[j + step];
  }
  return sums[0];
}

HWY_INLINE float ScaleOf(double sum_of_squares, size_t count) {
  const double rms = std::sqrt(sum_of_squares / static_cast<double>(count));
  return rms < kSign1ScaleMin ? 0.0f : static_cast<float>(rms);
}

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

template <bool kAdd>
HWY_INLINE void UnpackSigns(const uint8_t* HWY_RESTRICT bits, float scale,
                            float* HWY_RESTRICT values) {
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
      auto value = hn::BitCast(df, hn::Or(size, hn::AndNot(bit, top)));
      if constexpr (kAdd) value = hn::Add(hn::LoadU(df, values + i + j), value);
      hn::StoreU(value, df, values + i + j);
    }
  }
}

template <bool kWhole>
bool EncodeAll(const float* HWY_RESTRICT values, size_t count,
               std::byte* HWY_RESTRICT out) {
  using Kernels = Sign1Kernels<kWhole>;
  if (count == 0) return true;
  auto* bits =
      reinterpret_cast<uint8_t*>(out + Kernels::Scales(count) * sizeof(float));
  double total = 0.0;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t size = std::min(kBlock, count - begin);
    const float* block = values + begin;
    float padded[kBlock];
    uint8_t block_bits[kBlockBytes];
    if (size < kBlock) {
      // Minus zero adds nothing to the sum and has the bit 0.
      std::fill(padded, padded + kBlock, -0.0f);
      std::memcpy(padded, block, size * sizeof(float));
      block = padded;
    }
    const double sum = SumOfSquares(block);
    if (!std::isfinite(sum)) return false;
    PackSigns(block, block_bits);
    std::memcpy(bits + begin / 8, block_bits, (size + 7) / 8);
    total += sum;
    if constexpr (!kWhole) {
      const float scale = ScaleOf(sum, size);
      std::memcpy(out + begin / kBlock * sizeof(float), &scale, sizeof(scale));
    }
  }
  if constexpr (kWhole) {
    const float scale = ScaleOf(total, count);
    std::memcpy(out, &scale, sizeof(scale));
  }
  return true;
}

HWY_INLINE bool LoadScale(const std::byte* at, float& scale) {
  std::memcpy(&scale, at, sizeof(scale));
  // A set sign would turn every value round, also that of a zero.
  return (scale == 0.0f && !std::signbit(scale)) ||
         (scale >= kSign1ScaleMin && scale <= FLT_MAX);
}

template <bool kWhole, bool kAdd>
bool DecodeAll(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  using Kernels = Sign1Kernels<kWhole>;
  const auto* bits = reinterpret_cast<const uint8_t*>(
      payload + Kernels::Scales(count) * sizeof(float));
  if (count % 8 != 0 && (bits[count / 8] & (0xff >> (count % 8))) != 0) {
    return false;
  }
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t size = std::min(kBlock, count - begin);
    float scale;
    if (!LoadScale(payload + (kWhole ? 0 : begin / kBlock * sizeof(float)),
                   scale)) {
      return false;
    }
    if (size == kBlock) {
      UnpackSigns<kAdd>(bits + begin / 8, scale, values + begin);
      continue;
    }
    float padded[kBlock] = {};
    uint8_t padded_bits[kBlockBytes] = {};
    std::memcpy(padded, values + begin, size * sizeof(float));
    std::memcpy(padded_bits, bits + begin / 8, (size + 7) / 8);
    UnpackSigns<kAdd>(padded_bits, scale, padded);
    std::memcpy(values + begin, padded, size * sizeof(float));
  }
  return true;
}

bool EncodeBlocks(const float* HWY_RESTRICT values, size_t count,
                  std::byte* HWY_RESTRICT out) {
  return EncodeAll<false>(values, count, out);
}
bool EncodeWhole(const float* HWY_RESTRICT values, size_t count,
                 std::byte* HWY_RESTRICT out) {
  return EncodeAll<true>(values, count, out);
}
bool SetBlocks(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  return DecodeAll<false, false>(payload, count, values);
}
bool SetWhole(const std::byte* HWY_RESTRICT payload, size_t count,
              float* HWY_RESTRICT values) {
  return DecodeAll<true, false>(payload, count, values);
}
bool AddBlocks(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  return DecodeAll<false, true>(payload, count, values);
}
bool AddWhole(const std::byte* HWY_RESTRICT payload, size_t count,
              float* HWY_RESTRICT values) {
  return DecodeAll<true, true>(payload, count, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(EncodeBlocks);
HWY_EXPORT(EncodeWhole);
HWY_EXPORT(SetBlocks);
HWY_EXPORT(SetWhole);
HWY_EXPORT(AddBlocks);
HWY_EXPORT(AddWhole);

template <>
bool Sign1::Encode(std::span<const float> values, std::byte* out) {
  return HWY_DYNAMIC_DISPATCH(EncodeBlocks)(values.data(), values.size(), out);
}
template <>
bool Sign1Whole::Encode(std::span<const float> values, std::byte* out) {
  return HWY_DYNAMIC_DISPATCH(EncodeWhole)(values.data(), values.size(), out);
}

template <>
bool Sign1::Decode(const std::byte* payload, std::span<float> values) {
  return HWY_DYNAMIC_DISPATCH(SetBlocks)(payload, values.size(), values.data());
}
template <>
bool Sign1Whole::Decode(const std::byte* payload, std::span<float> values) {
  return HWY_DYNAMIC_DISPATCH(SetWhole)(payload, values.size(), values.data());
}

template <>
bool Sign1::DecodeAdd(const std::byte* payload, std::span<float> accumulators) {
  return HWY_DYNAMIC_DISPATCH(AddBlocks)(payload, accumulators.size(),
                                         accumulators.data());
}
template <>
bool Sign1Whole::DecodeAdd(const std::byte* payload,
                           std::span<float> accumulators) {
  return HWY_DYNAMIC_DISPATCH(AddWhole)(payload, accumulators.size(),
                                        accumulators.data());
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
