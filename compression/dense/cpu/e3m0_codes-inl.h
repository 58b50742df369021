// compression/dense/cpu/e3m0_codes-inl.h
//
// Computes the codes of E3M0 from the bit patterns of values. Included once for
// each SIMD target.
#if defined(SKERRY_COMPRESSION_DENSE_CPU_E3M0_CODES_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_DENSE_CPU_E3M0_CODES_INL_H_
#undef SKERRY_COMPRESSION_DENSE_CPU_E3M0_CODES_INL_H_
#else
#define SKERRY_COMPRESSION_DENSE_CPU_E3M0_CODES_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "compression/dense/cpu/levels4.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// The nearest power of two from the pattern: the exponent, one more above its
// middle. Ties go to the lower magnitude; the middle below 2^-6 is 2^-7. No
// magnitude is so far above 1 that its code would be 8.
//
// `upper` is the upper half of a pattern from which one was taken, so that a
// pattern above one whose lower half is 0 still is there, and an equal one
// falls below. Zeros wrap to 0x7fff and 0xffff.
template <class V16>
HWY_INLINE auto E3m0Code(V16 upper) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::DFromV<V16> d16;
  const auto one = hn::Set(d16, uint16_t{1});
  const auto size =
      hn::And(hn::Add(upper, one), hn::Set(d16, uint16_t{0x7fff}));
  // 1 where the pattern has just passed 2^-7, and 0 up to there.
  const auto above = hn::SaturatedSub(size, hn::Set(d16, uint16_t{120 << 7}));
  const auto nearest =
      hn::ShiftRight<7>(hn::Add(above, hn::Set(d16, uint16_t{0x3f})));
  const auto some = hn::Ne(above, hn::Zero(d16));
  return hn::OrAnd(hn::IfThenElseZero(some, hn::Max(nearest, one)),
                   hn::IfThenElseZero(some, hn::ShiftRight<12>(upper)),
                   hn::Set(d16, uint16_t{8}));
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
using Bytes64 = std::array<uint8_t, 64>;

// Codes by size, two places to a power of two from 2^-7 on, with the sign in
// bit 4.
constexpr Bytes64 E3m0BySize() {
  Bytes64 codes{};
  for (unsigned i = 0; i < codes.size(); ++i) {
    const unsigned size = i % 16;
    if (size == 0) continue;
    const unsigned sign = i / 16 % 2;
    codes[i] = static_cast<uint8_t>(8 * sign + std::max(size / 2, 1u));
  }
  return codes;
}
// Byte 0 of each of 16 words of 32 bits, then byte 1 of each.
constexpr Bytes64 LowerThenUpper() {
  Bytes64 places{};
  for (size_t i = 0; i < 32; ++i) {
    places[i] = static_cast<uint8_t>(4 * (i % 16) + i / 16);
  }
  return places;
}
alignas(64) constexpr Bytes64 kE3m0BySize = E3m0BySize();
alignas(64) constexpr Bytes64 kLowerThenUpper = LowerThenUpper();

// Stores the codes of 64 values, the first of two in the low half of a byte:
// those of E3m0Code, from the upper half of each pattern rounded up. What it is
// above 2^-7, and 63 more, has the place in the table from bit 6 on.
template <class V>
HWY_INLINE void StoreE3m0Codes64(V y0, V y1, V y2, V y3,
                                 uint8_t* HWY_RESTRICT packed) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Full512<uint8_t> d8;
  const hn::Full512<uint16_t> d16;
  const hn::Full512<uint32_t> d32;
  const auto less_than_half = hn::Set(d32, 0xffffu);
  const auto rounded_up = [&](V y) HWY_ATTR {
    return hn::BitCast(d16, hn::Add(hn::BitCast(d32, y), less_than_half));
  };
  const auto low = hn::ConcatOdd(d16, rounded_up(y1), rounded_up(y0));
  const auto high = hn::ConcatOdd(d16, rounded_up(y3), rounded_up(y2));
  const auto magnitude = hn::Set(d16, uint16_t{0x7fff});
  const auto least = hn::Set(d16, uint16_t{(120 << 7) - 63});
  const auto low_size = hn::SaturatedSub(hn::And(low, magnitude), least);
  const auto high_size = hn::SaturatedSub(hn::And(high, magnitude), least);
  // A byte of `low` and one of `high` by turns.
  auto index =
      hn::OrAnd(hn::ShiftRight<6>(low_size), hn::ShiftLeft<2>(high_size),
                hn::Set(d16, uint16_t{0x0f00}));
  index =
      hn::OrAnd(index, hn::ShiftRight<11>(low), hn::Set(d16, uint16_t{0x0010}));
  index =
      hn::OrAnd(index, hn::ShiftRight<3>(high), hn::Set(d16, uint16_t{0x1000}));
  const hn::Vec512<uint32_t> codes{
      _mm512_permutexvar_epi8(index.raw, hn::Load(d8, kE3m0BySize.data()).raw)};
  const auto two = hn::Or(codes, hn::ShiftRight<12>(codes));
  const hn::Vec512<uint8_t> in_order{_mm512_permutexvar_epi8(
      hn::Load(d8, kLowerThenUpper.data()).raw, two.raw)};
  const hn::Full256<uint8_t> half;
  hn::StoreU(hn::LowerHalf(half, in_order), half, packed);
}
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
