#include "compression/top_k/cpu/sent.h"

#include <algorithm>

#include "compression/top_k/cpu/gaps.h"
#include "compression/top_k/cpu/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/top_k/cpu/sent.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/top_k/cpu/keep-inl.h"
#include "compression/top_k/cpu/places-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other files have functions of the same names.
namespace {

// Memory is asked this far ahead: 4 KiB.
constexpr size_t kValuesAhead = 1024;

// The places of the next words' candidates, as many as fit a step.
size_t AllPlaces(const uint64_t* HWY_RESTRICT words, size_t count, size_t* word,
                 uint32_t* HWY_RESTRICT places) {
  size_t found = 0;
  size_t at = *word;
  for (; at < count && found <= kSentStep - kWordValues; ++at) {
    found += PlacesOf(words[at], static_cast<uint32_t>(at * kWordValues),
                      places + found);
  }
  *word = at;
  return found;
}

// Keeps candidates. They are not in a cache any more, so memory is asked for
// ahead.
size_t KeepCandidates(const float* HWY_RESTRICT candidates, size_t count,
                      uint32_t bits, uint32_t* places,
                      float* HWY_RESTRICT values) {
  return KeepAll<kValuesAhead>(candidates, count, bits, places, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(AllPlaces);
HWY_EXPORT(KeepCandidates);

namespace {

// Keeps those of the `found` values that are above `bits`, and the first `ties`
// that equal it. None is below. Counts `ties` down, and returns how many values
// it kept.
size_t DropTies(uint32_t bits, size_t& ties, size_t found, uint32_t* places,
                float* values) {
  size_t out = 0;
  for (size_t i = 0; i < found; ++i) {
    const bool equal = MagnitudeBits(values[i]) == bits;
    const bool ties_in = equal && ties > 0;
    places[out] = places[i];
    values[out] = values[i];
    ties -= ties_in ? 1 : 0;
    out += !equal || ties_in ? 1 : 0;
  }
  return out;
}

// Writes the gaps before step[1], .. step[count], and before the first of them
// where the part has sent one already.
void WriteStep(uint32_t* step, size_t count, SentCursor& cursor,
               std::byte*& gaps) {
  if (cursor.next == 0) {
    cursor.first = step[1];
    gaps = WriteGaps({step + 1, count}, gaps);
  } else {
    step[0] = cursor.next - 1;
    gaps = WriteGaps({step, 1 + count}, gaps);
  }
  cursor.next = step[count] + 1;
}

}  // namespace

size_t ReadSent(const Candidates& from, size_t words, uint32_t above,
                SentCursor& cursor, float* values, std::byte*& gaps) {
  uint32_t step[1 + kSentRoom];
  uint32_t* const places = step + 1;
  size_t sent = 0;
  while (sent == 0 && cursor.word < words && cursor.left > 0) {
    const size_t count = HWY_DYNAMIC_DISPATCH(AllPlaces)(from.words, words,
                                                         &cursor.word, places);
    const float* const candidates = from.values + cursor.found;
    cursor.found += count;
    const bool any_ties = cursor.ties > 0;
    sent = HWY_DYNAMIC_DISPATCH(KeepCandidates)(
        candidates, count, any_ties ? above : above + 1, places, values);
    if (any_ties) sent = DropTies(above, cursor.ties, sent, places, values);
    sent = std::min(sent, cursor.left);
    cursor.left -= sent;
  }
  if (sent > 0) WriteStep(step, sent, cursor, gaps);
  return sent;
}

void ReadEveryPlace(const Candidates& from, size_t words, SentCursor& cursor,
                    std::byte*& gaps) {
  uint32_t step[1 + kSentRoom];
  while (cursor.word < words) {
    const size_t count = HWY_DYNAMIC_DISPATCH(AllPlaces)(
        from.words, words, &cursor.word, step + 1);
    if (count > 0) WriteStep(step, count, cursor, gaps);
    cursor.found += count;
    cursor.left -= count;
  }
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
