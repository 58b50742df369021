// compression/top_k/cpu/collect-inl.h
//
// Copies the values that reach a magnitude, and sets a bit for each of them
// among the bits of all values. The pass is bound by memory. Magnitudes are
// compared as in compression/top_k/cpu/select.h. Included once for each SIMD
// target.
#if defined(SKERRY_COMPRESSION_TOP_K_CPU_COLLECT_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_TOP_K_CPU_COLLECT_INL_H_
#undef SKERRY_COMPRESSION_TOP_K_CPU_COLLECT_INL_H_
#else
#define SKERRY_COMPRESSION_TOP_K_CPU_COLLECT_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "compression/dense/cpu/pages.h"
#include "compression/top_k/cpu/halves-inl.h"
#include "compression/top_k/cpu/marks-inl.h"
#include "compression/top_k/cpu/mask_bits-inl.h"
#include "compression/top_k/cpu/select.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr bool kCompresses = true;
#else
constexpr bool kCompresses = false;
#endif

// Copies the values of one word that reach `bits` behind the `found` values in
// `kept`, adds their number to `found`, and returns their bits. Reads
// kMarkedValues values.
HWY_INLINE uint64_t CollectWord(const float* HWY_RESTRICT values, uint32_t bits,
                                float* HWY_RESTRICT kept, size_t& found) {
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
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto reaches = hn::Gt(size, below);
    word |= MaskBits(di, reaches) << i;
    // Where compressing is one instruction, it is quicker than a branch that
    // nobody can predict.
    if (kCompresses || !hn::AllFalse(di, reaches)) {
      const size_t count = hn::CountTrue(di, reaches);
      // Some processors compress to memory slowly.
      StoreFew(df, hn::Compress(value, hn::RebindMask(df, reaches)), count,
               kept + found);
      found += count;
    }
  }
  return word;
}

// Copies the values that reach `bits` behind the `found` values in `kept`, and
// returns how many there are then. Writes a bit for each of the `count` values
// to `words`. Calls ask(values of a word) before each whole word, to ask for
// memory ahead.
template <class Ask>
HWY_INLINE size_t CollectAll(const float* HWY_RESTRICT values, size_t count,
                             uint32_t bits, const Ask& ask,
                             uint64_t* HWY_RESTRICT words,
                             float* HWY_RESTRICT kept, size_t found) {
  for (; count >= kMarkedValues; count -= kMarkedValues) {
    ask(values);
    AskPageAhead(values, kMarkedValues * sizeof(float));
    *words++ = CollectWord(values, bits, kept, found);
    values += kMarkedValues;
  }
  if (count == 0) return found;
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) {
    if (MagnitudeBits(values[i]) < bits) continue;
    word |= uint64_t{1} << i;
    kept[found++] = values[i];
  }
  *words = word;
  return found;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
