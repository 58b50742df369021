#include "compression/top_k/cpu/sent_marks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/top_k/cpu/sent_marks.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/top_k/cpu/choose-inl.h"
#include "compression/top_k/cpu/marks-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other files have functions of the same names.
namespace {

// Memory is asked this far ahead: 4 KiB.
constexpr size_t kValuesAhead = 1024;

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
    kept[i / kWordValues] =
        CopyChosen(candidates + i, HWY_MIN(looked - i, kWordValues), above,
                   cursor->ties, cursor->left, values, sent);
  }
  const size_t behind = (looked + kWordValues - 1) / kWordValues;
  kept[behind] = 0;
  kept[behind + 1] = 0;
  KeptBits kept_bits(kept);
  for (size_t i = first; i < end; ++i) words[i] = kept_bits.Of(words[i]);
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
