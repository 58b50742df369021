// compression/top_k/cpu/choose-inl.h
//
// Chooses which of the collected values are sent, and clears the bits of the
// others among the bits of all values. Magnitudes are compared as in
// compression/top_k/cpu/select.h. Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_TOP_K_CPU_CHOOSE_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_TOP_K_CPU_CHOOSE_INL_H_
#undef SKERRY_COMPRESSION_TOP_K_CPU_CHOOSE_INL_H_
#else
#define SKERRY_COMPRESSION_TOP_K_CPU_CHOOSE_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compression/top_k/cpu/collect-inl.h"
#include "compression/top_k/cpu/marks-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE uint64_t LowBits(size_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// The lowest `count` of the bits that are set, or all.
HWY_INLINE uint64_t FirstOf(uint64_t bits, size_t count) {
  if (hwy::PopCount(bits) <= count) return bits;
  uint64_t rest = bits;
  for (; count > 0; --count) rest &= rest - 1;
  return bits & ~rest;
}

// Returns some of the bits that are set in `word`: counted from the lowest, set
// bit i stays if bit i of `kept` is set.
HWY_INLINE uint64_t Deposit(uint64_t kept, uint64_t word) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return _pdep_u64(kept, word);
#else
  // Most are kept, and some older processors deposit bit by bit.
  const size_t some = hwy::PopCount(word);
  uint64_t rest = word;
  size_t passed = 0;
  for (uint64_t dropped = ~kept & LowBits(some); dropped != 0;
       dropped &= dropped - 1) {
    const auto number = static_cast<size_t>(std::countr_zero(dropped));
    for (; passed < number; ++passed) rest &= rest - 1;
    word &= ~(rest & -rest);
  }
  return word;
#endif
}

// Chooses which of `count` candidates, at most 64, are sent: magnitudes above
// `above`, and the first `ties` of those that equal it, `left` in all. Counts
// `ties` and `left` down. Reads 64 candidates in any case.
HWY_INLINE uint64_t Choose(const float* HWY_RESTRICT candidates, size_t count,
                           uint32_t above, size_t& ties, size_t& left) {
  const uint64_t all = LowBits(count);
  uint64_t keep = MarkWord(candidates, above + 1) & all;
  if (ties > 0) {
    const uint64_t equal =
        FirstOf(MarkWord(candidates, above) & all & ~keep, ties);
    ties -= hwy::PopCount(equal);
    keep |= equal;
  }
  keep = FirstOf(keep, left);
  left -= hwy::PopCount(keep);
  return keep;
}

// Chooses as Choose does, and copies the chosen candidates behind the `copied`
// values of `kept`. Adds their number to `copied`.
HWY_INLINE uint64_t CopyChosen(const float* HWY_RESTRICT candidates,
                               size_t count, uint32_t above, size_t& ties,
                               size_t& left, float* HWY_RESTRICT kept,
                               size_t& copied) {
  if (HWY_LIKELY(count >= kMarkedValues && ties == 0 &&
                 left >= kMarkedValues)) {
    const size_t before = copied;
    const uint64_t keep = CollectWord(candidates, above + 1, kept, copied);
    left -= copied - before;
    return keep;
  }
  const uint64_t keep = Choose(candidates, count, above, ties, left);
  copied += CopyWord(candidates, keep, kept + copied);
  return keep;
}

// Clears the bits of candidates that are not sent in the words of all values,
// one word after another. `kept` has a bit for each candidate and one word
// more; the first `passed` candidates are done already.
class KeptBits {
 public:
  explicit HWY_INLINE KeptBits(const uint64_t* kept, size_t passed = 0)
      : kept_(kept), passed_(passed) {}

  HWY_INLINE size_t passed() const { return passed_; }

  HWY_INLINE uint64_t Of(uint64_t word) {
    const size_t some = hwy::PopCount(word);
    // From the byte with the first of them on: 57 of them or more.
    uint64_t bits;
    std::memcpy(&bits, reinterpret_cast<const char*>(kept_) + passed_ / 8,
                sizeof(bits));
    bits >>= passed_ % 8;
    if (HWY_UNLIKELY(some > 57)) {
      const size_t shift = passed_ % kMarkedValues;
      const uint64_t* const at = kept_ + passed_ / kMarkedValues;
      bits = at[0] >> shift | at[1] << 1 << (63 - shift);
    }
    passed_ += some;
    return Deposit(bits, word);
  }

 private:
  const uint64_t* const kept_;
  size_t passed_;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
