// model/cpu/dropout-inl.h
//
// Dropout factors for many elements of a row at once. Included once for each
// SIMD target, inside its namespace rules.
#if defined(SKERRY_MODEL_CPU_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_MODEL_CPU_DROPOUT_INL_H_
#undef SKERRY_MODEL_CPU_DROPOUT_INL_H_
#else
#define SKERRY_MODEL_CPU_DROPOUT_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "model/cpu/dropout_mask.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace {

using PhiloxTag = hwy::HWY_NAMESPACE::CappedTag<uint32_t, 16>;
using PhiloxWords = hwy::HWY_NAMESPACE::Vec<PhiloxTag>;

// The high halves of a * b.
HWY_INLINE PhiloxWords HighHalves(PhiloxTag d, PhiloxWords a, PhiloxWords b) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_SCALAR
  const uint64_t product = uint64_t{hn::GetLane(a)} * hn::GetLane(b);
  return hn::Set(d, static_cast<uint32_t>(product >> 32));
#else
  const hn::RepartitionToWide<PhiloxTag> wide;
  const auto odd_a = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a)));
  const auto even = hn::ShiftRight<32>(hn::MulEven(a, b));
  const auto odd = hn::MulEven(odd_a, b);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, even));
#endif
}

// FillDropoutFactors writes this many floats past `count` at most.
constexpr size_t kDropoutSlack = 63;

// factors[i] = DropoutFactor(mask, row, first + i) for i < count.
//
// Requires: `first` is a multiple of 4.
HWY_INLINE void FillDropoutFactors(const DropoutMask& mask, size_t row,
                                   size_t first, size_t count,
                                   float* HWY_RESTRICT factors) {
  namespace hn = hwy::HWY_NAMESPACE;
  const PhiloxTag d;
  const hn::RebindToFloat<PhiloxTag> df;
  const size_t blocks = hn::Lanes(d);
  const PhiloxKey key = mask.key();
  const auto m0 = hn::Set(d, kPhiloxMultiplier0);
  const auto m1 = hn::Set(d, kPhiloxMultiplier1);
  const auto threshold = hn::Set(d, mask.threshold);
  const auto kept = hn::Set(df, mask.kept);
  for (size_t i = 0; i < count; i += 4 * blocks) {
    auto c0 = hn::Iota(d, static_cast<uint32_t>((first + i) / 4));
    auto c1 = hn::Set(d, static_cast<uint32_t>(row));
    auto c2 = hn::Set(d, mask.stream);
    auto c3 = hn::Set(d, static_cast<uint32_t>(mask.sample));
    uint32_t k0 = key[0];
    uint32_t k1 = key[1];
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const auto high0 = HighHalves(d, c0, m0);
      const auto high1 = HighHalves(d, c2, m1);
      const auto low0 = hn::Mul(c0, m0);
      const auto low1 = hn::Mul(c2, m1);
      c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, k0));
      c1 = low1;
      c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1));
      c3 = low0;
      k0 += kPhiloxWeyl0;
      k1 += kPhiloxWeyl1;
    }
    const auto factor = [&](PhiloxWords word) HWY_ATTR {
      const auto drops = hn::RebindMask(df, hn::Lt(word, threshold));
      return hn::IfThenZeroElse(drops, kept);
    };
    hn::StoreInterleaved4(factor(c0), factor(c1), factor(c2), factor(c3), df,
                          factors + i);
  }
}

// row[i] *= factors[i], in whole vectors: both have room for them.
HWY_INLINE void MultiplyRow(size_t count, const float* HWY_RESTRICT factors,
                            float* HWY_RESTRICT row) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + i), hn::LoadU(d, factors + i)), d,
               row + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::model::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
