#include "compression/cpu/sent_marks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/sent_marks.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/cpu/marks-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other files have functions of the same names.
namespace {

// Memory is asked this far ahead: 4 KiB.
constexpr size_t kValuesAhead = 1024;

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

// Of the bits that are set in `word`, those whose number i has bit i of `kept`.
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

// Which of 64 candidates are sent.
HWY_INLINE uint64_t Choose(const float* HWY_RESTRICT candidates, size_t count,
                           uint32_t above, SentCursor& cursor) {
  const uint64_t all = LowBits(count);
  uint64_t keep = MarkWord(candidates, above + 1) & all;
  if (cursor.ties > 0) {
    const uint64_t equal =
        FirstOf(MarkWord(candidates, above) & all & ~keep, cursor.ties);
    cursor.ties -= hwy::PopCount(equal);
    keep |= equal;
  }
  keep = FirstOf(keep, cursor.left);
  cursor.left -= hwy::PopCount(keep);
  return keep;
}

size_t KeepMarked(uint64_t* HWY_RESTRICT words, size_t count,
                  const float* HWY_RESTRICT candidates, uint32_t above,
                  SentCursor* cursor, float* HWY_RESTRICT values) {
  const size_t first = cursor->word;
  size_t looked = 0;
  size_t end = first;
  for (; end < count && looked <= kSentStep - kWordValues; ++end) {
    looked += hwy::PopCount(words[end]);
  }
  // A bit for each candidate: whether it is sent.
  uint64_t kept[kSentStep / kWordValues + 2];
  size_t sent = 0;
  candidates += cursor->found;
  for (size_t i = 0; i < looked; i += kWordValues) {
    PrefetchWord(candidates + i + kValuesAhead);
    const uint64_t keep = Choose(
        candidates + i, HWY_MIN(looked - i, kWordValues), above, *cursor);
    sent += CopyWord(candidates + i, keep, values + sent);
    kept[i / kWordValues] = keep;
  }
  const size_t behind = (looked + kWordValues - 1) / kWordValues;
  kept[behind] = 0;
  kept[behind + 1] = 0;
  size_t passed = 0;
  for (size_t i = first; i < end; ++i) {
    const size_t shift = passed % kWordValues;
    const uint64_t* const at = kept + passed / kWordValues;
    const uint64_t mine = at[0] >> shift | at[1] << 1 << (63 - shift);
    passed += hwy::PopCount(words[i]);
    words[i] = Deposit(mine, words[i]);
  }
  cursor->found += looked;
  cursor->word = end;
  return sent;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(KeepMarked);

size_t ReadSentMarks(const Candidates& from, size_t words, uint32_t above,
                     SentCursor& cursor, float* values) {
  size_t sent = 0;
  while (sent == 0 && cursor.word < words) {
    sent = HWY_DYNAMIC_DISPATCH(KeepMarked)(from.words, words, from.values,
                                            above, &cursor, values);
  }
  return sent;
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
