// compression/dense/cpu/codes4-inl.h
//
// Packs codes of 4 bits, two a byte. Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_DENSE_CPU_CODES4_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_DENSE_CPU_CODES4_INL_H_
#undef SKERRY_COMPRESSION_DENSE_CPU_CODES4_INL_H_
#else
#define SKERRY_COMPRESSION_DENSE_CPU_CODES4_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "compression/dense/cpu/block4.h"
#include "compression/dense/cpu/e3m0_codes-inl.h"
#include "compression/dense/cpu/levels4.h"
#include "compression/dense/cpu/nf4_midpoints.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// The cells of kNf4Cells in the lowest bits.
template <class V>
HWY_INLINE auto Nf4CellOf(V y) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::DFromV<V> df;
  const hn::RebindToSigned<decltype(df)> di;
  // Adding it leaves the nearest integer in the lowest bits.
  const auto rounder = hn::Set(df, 0x1.8p23f);
  return hn::BitCast(di, hn::MulAdd(y, hn::Set(df, 15.0f), rounder));
}

// Where y is above the midpoint of its cell.
template <class V, class VI>
HWY_INLINE auto AboveMidpoint(V y, VI cell) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::DFromV<V> df;
  const V midpoint{
      _mm512_permutex2var_ps(hn::Load(df, kNf4Cells.midpoint).raw, cell.raw,
                             hn::Load(df, kNf4Cells.midpoint + 16).raw)};
  return hn::Gt(y, midpoint);
}
#endif

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
// Codes of NF4 of 64 values, a byte each. What 16 values have to do alone is
// done for 64 wherever a byte of each is enough.
template <class V>
HWY_INLINE auto Nf4Codes64(V y0, V y1, V y2, V y3) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Full512<uint8_t> d8;
  const auto cell0 = Nf4CellOf(y0);
  const auto cell1 = Nf4CellOf(y1);
  const auto cell2 = Nf4CellOf(y2);
  const auto cell3 = Nf4CellOf(y3);
  const auto bits = [&](V y, decltype(cell0) cell) HWY_ATTR {
    return uint64_t{AboveMidpoint(y, cell).raw};
  };
  const uint64_t above = bits(y0, cell0) | bits(y1, cell1) << 16 |
                         bits(y2, cell2) << 32 | bits(y3, cell3) << 48;
  const auto lowest = hn::Load(d8, kLowestBytes.data()).raw;
  const auto low = _mm512_permutex2var_epi8(cell0.raw, lowest, cell1.raw);
  const auto high = _mm512_permutex2var_epi8(cell2.raw, lowest, cell3.raw);
  const auto cells = _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
  const auto below =
      _mm512_permutexvar_epi8(cells, hn::Load(d8, kNf4Below.data()).raw);
  return hn::Vec512<uint8_t>{
      _mm512_mask_add_epi8(below, above, below, hn::Set(d8, uint8_t{1}).raw)};
}

// Stores 64 codes of a byte each, the first of two in the low half of a byte.
HWY_INLINE void StorePacked64(hwy::HWY_NAMESPACE::Vec512<uint8_t> codes,
                              uint8_t* HWY_RESTRICT packed) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto weights = _mm512_set1_epi16(16 << 8 | 1);
  const hn::Vec256<uint8_t> bytes{
      _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(codes.raw, weights))};
  hn::StoreU(bytes, hn::Full256<uint8_t>(), packed);
}
#endif

// The number of midpoints of NF4 below y: ties go to the lower level.
template <class V>
HWY_INLINE auto Nf4Code(V y) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::DFromV<V> df;
  const hn::RebindToSigned<decltype(df)> di;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const auto cell = Nf4CellOf(y);
  const hn::VFromD<decltype(di)> below{
      _mm512_permutex2var_epi32(hn::Load(di, kNf4Cells.below).raw, cell.raw,
                                hn::Load(di, kNf4Cells.below + 16).raw)};
  const auto above = AboveMidpoint(y, cell);
  return hn::VFromD<decltype(di)>{_mm512_mask_add_epi32(
      below.raw, above.raw, below.raw, hn::Set(di, 1).raw)};
#elif HWY_MAX_BYTES >= 32 && !HWY_HAVE_SCALABLE
  // Four halvings; a vector holds all that one of them may compare with.
  const auto above = [&](V midpoint) HWY_ATTR {
    // A true lane is -1.
    return hn::BitCast(di, hn::VecFromMask(df, hn::Gt(y, midpoint)));
  };
  const auto halved = [&](auto code, V midpoint) HWY_ATTR {
    return hn::Sub(hn::Add(code, code), above(midpoint));
  };
  const auto third = hn::Load(df, kNf4ThirdHalving.data());
  const auto fourth = hn::Load(df, kNf4FourthHalving.data());
  const auto upper = hn::Gt(y, hn::Set(df, Nf4Midpoint(7)));
  auto code = hn::Neg(hn::BitCast(di, hn::VecFromMask(df, upper)));
  code = halved(code, hn::IfThenElse(upper, hn::Set(df, Nf4Midpoint(11)),
                                     hn::Set(df, Nf4Midpoint(3))));
  code =
      halved(code, hn::TableLookupLanes(third, hn::IndicesFromVec(df, code)));
  return halved(code,
                hn::TableLookupLanes(fourth, hn::IndicesFromVec(df, code)));
#else
  auto code = hn::Zero(di);
  for (size_t i = 0; i + 1 < std::size(kNf4Levels.values); ++i) {
    const auto above = hn::Gt(y, hn::Set(df, Nf4Midpoint(i)));
    // A true lane is -1.
    code = hn::Sub(code, hn::BitCast(di, hn::VecFromMask(df, above)));
  }
  return code;
#endif
}

#if HWY_TARGET != HWY_SCALAR
// Codes of y0 and y1, a word each.
template <Levels4 kLevels, class V>
HWY_INLINE auto Codes(V y0, V y1) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::DFromV<V> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Repartition<uint16_t, decltype(df)> d16;
  if constexpr (kLevels == Levels4::kNf4) {
    return hn::ConcatEven(d16, hn::BitCast(d16, Nf4Code(y1)),
                          hn::BitCast(d16, Nf4Code(y0)));
  } else {
    const auto less_one = [&](V y) HWY_ATTR {
      return hn::BitCast(d16, hn::Sub(hn::BitCast(du, y), hn::Set(du, 1)));
    };
    return E3m0Code(hn::ConcatOdd(d16, less_one(y1), less_one(y0)));
  }
}

// Stores codes of a word each, the first of two in the low half of a byte.
template <class D, class V16>
HWY_INLINE void StorePacked(D df, V16 codes, uint8_t* HWY_RESTRICT packed) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint8_t, D> d8;
  const auto two = hn::BitCast(du, codes);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const auto weights = hn::Set(du, 16 << 16 | 1);
  const hn::Vec128<uint8_t> bytes{
      _mm512_cvtepi32_epi8(_mm512_madd_epi16(two.raw, weights.raw))};
#else
  const auto bytes = hn::TruncateTo(d8, hn::Or(two, hn::ShiftRight<12>(two)));
#endif
  hn::StoreU(bytes, d8, packed);
}
#endif

// Codes of one block, the first of two in the low half of a byte.
// y = (x * shrink) * inverse. `ahead` is a block that is needed soon: this pass
// reads from cache, and memory would idle meanwhile.
template <Levels4 kLevels, bool kShrink>
HWY_INLINE void Quantize(const float* HWY_RESTRICT values, float shrink,
                         float inverse, const float* HWY_RESTRICT ahead,
                         uint8_t* HWY_RESTRICT packed) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr size_t kBlock = Nf4::kElements;
  const hn::CappedTag<float, kBlock / 2> df;
  const auto factor0 = hn::Set(df, shrink);
  const auto factor1 = hn::Set(df, inverse);
  const auto scaled_at = [&](size_t i) HWY_ATTR {
    hwy::Prefetch(ahead + i);
    auto x = hn::LoadU(df, values + i);
    if constexpr (kShrink) x = hn::Mul(x, factor0);
    return hn::Mul(x, factor1);
  };
#if HWY_TARGET == HWY_SCALAR
  const auto code_at = [&](size_t i) {
    const auto y = scaled_at(i);
    if constexpr (kLevels == Levels4::kNf4) {
      return static_cast<unsigned>(hn::GetLane(Nf4Code(y)));
    } else {
      const uint32_t upper =
          (std::bit_cast<uint32_t>(hn::GetLane(y)) - 1) >> 16;
      const hn::Rebind<uint16_t, decltype(df)> d16;
      return unsigned{
          hn::GetLane(E3m0Code(hn::Set(d16, static_cast<uint16_t>(upper))))};
    }
  };
  for (size_t i = 0; i < kBlock; i += 2) {
    packed[i / 2] = static_cast<uint8_t>(code_at(i) | code_at(i + 1) << 4);
  }
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
  static_assert(kBlock == 64);
  const auto y0 = scaled_at(0);
  const auto y1 = scaled_at(16);
  const auto y2 = scaled_at(32);
  const auto y3 = scaled_at(48);
  if constexpr (kLevels == Levels4::kNf4) {
    StorePacked64(Nf4Codes64(y0, y1, y2, y3), packed);
  } else {
    StoreE3m0Codes64(y0, y1, y2, y3, packed);
  }
#else
  const size_t lanes = hn::Lanes(df);
  for (size_t i = 0; i < kBlock; i += 2 * lanes) {
    StorePacked(df, Codes<kLevels>(scaled_at(i), scaled_at(i + lanes)),
                packed + i / 2);
  }
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
