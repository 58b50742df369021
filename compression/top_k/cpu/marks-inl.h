// compression/top_k/cpu/marks-inl.h
//
// Sets a bit for each value that reaches a magnitude. This pass does little
// else, so it runs at the speed of memory. Later passes then find the values in
// a cache and can prefetch the next ones. Magnitudes are compared as in
// compression/top_k/cpu/select.h. Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_TOP_K_CPU_MARKS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_TOP_K_CPU_MARKS_INL_H_
#undef SKERRY_COMPRESSION_TOP_K_CPU_MARKS_INL_H_
#else
#define SKERRY_COMPRESSION_TOP_K_CPU_MARKS_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include "compression/dense/cpu/pages.h"
#include "compression/top_k/cpu/halves-inl.h"
#include "compression/top_k/cpu/marks.h"
#include "compression/top_k/cpu/mask_bits-inl.h"
#include "compression/top_k/cpu/select.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// Asks for a word's values.
HWY_INLINE void PrefetchWord(const float* values) {
  constexpr size_t kLine = 64 / sizeof(float);
  HWY_UNROLL(4)
  for (size_t i = 0; i < kMarkedValues; i += kLine) hwy::Prefetch(values + i);
}

// Bit i is whether values[i] has at least `bits`.
HWY_INLINE uint64_t MarkWord(const float* HWY_RESTRICT values, uint32_t bits) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<int32_t, kMarkedValues> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  // As a signed number, 2^31 - 1 is above every magnitude and -1 below.
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  uint64_t word = 0;
  HWY_UNROLL(4)
  for (size_t i = 0; i < kMarkedValues; i += lanes) {
    const auto size =
        hn::And(hn::BitCast(di, hn::LoadU(df, values + i)), magnitude);
    word |= MaskBits(di, hn::Gt(size, below)) << i;
  }
  return word;
}

// Bit i % 64 of words[i / 64] is whether values[i] has at least `bits`. Calls
// ask(values of a word) before each, for what is needed later.
template <class Ask>
HWY_INLINE void MarkAll(const float* HWY_RESTRICT values, size_t count,
                        uint32_t bits, const Ask& ask,
                        uint64_t* HWY_RESTRICT words) {
  for (; count >= kMarkedValues; count -= kMarkedValues) {
    ask(values);
    AskPageAhead(values, kMarkedValues * sizeof(float));
    *words++ = MarkWord(values, bits);
    values += kMarkedValues;
  }
  if (count == 0) return;
  *words = 0;
  for (size_t i = 0; i < count; ++i) {
    *words |= uint64_t{MagnitudeBits(values[i]) >= bits} << i;
  }
}

// Copies the values of one word whose bits are set; returns how many.
HWY_INLINE size_t CopyWord(const float* HWY_RESTRICT values, uint64_t word,
                           float* HWY_RESTRICT kept) {
  size_t found = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Full512<float> df;
  const size_t lanes = hn::Lanes(df);
  // One instruction compresses, which is quicker than a branch that nobody can
  // predict.
  HWY_UNROLL(4)
  for (size_t i = 0; i < kMarkedValues; i += lanes) {
    const auto some = static_cast<uint16_t>(word >> i);
    const size_t count = hwy::PopCount(uint64_t{some});
    // Some processors compress to memory slowly.
    StoreFew(
        df,
        hn::Compress(hn::LoadU(df, values + i), hn::MFromD<decltype(df)>{some}),
        count, kept + found);
    found += count;
  }
#else
  for (; word != 0; word &= word - 1) {
    kept[found++] = values[std::countr_zero(word)];
  }
#endif
  return found;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
