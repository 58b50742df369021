// compression/top_k/cpu/sent.h
//
// Reads the candidates of a part that are sent: their values in order, and the
// gaps between their places.
#ifndef SKERRY_COMPRESSION_TOP_K_CPU_SENT_H_
#define SKERRY_COMPRESSION_TOP_K_CPU_SENT_H_

#include <cstddef>
#include <cstdint>

#include "compression/top_k/cpu/candidates.h"

namespace skerry::compression::cpu {

// How far a part has been read.
struct SentCursor {
  size_t word = 0;     // the next
  size_t found = 0;    // candidates before it
  size_t left = 0;     // still to be sent
  size_t ties = 0;     // of these, how many may equal `above`
  uint32_t first = 0;  // place of the first that was sent
  uint32_t next = 0;   // behind the last that was sent; 0 before there is one
};

// Candidates that one call looks at, unless nothing of them is sent.
inline constexpr size_t kSentStep = 2048;
// What a call may write.
inline constexpr size_t kSentRoom = kSentStep + kCandidateSlack;

// Writes the values that the next words send, up to `words`. Writes the gap
// before each of their places, except the part's first, at `gaps`, which moves
// on. Candidates above `above` are sent, and the first of those that equal it.
// Returns how many values it wrote: 0 when all words are read or nothing is
// left. Requires: parts of at most 2^16 values; room for kSentRoom values, and
// for three bytes of each gap and kCandidateSlack.
size_t ReadSent(const Candidates& from, size_t words, uint32_t above,
                SentCursor& cursor, float* values, std::byte*& gaps);

// Does the same for all remaining places when all candidates are sent, but
// leaves the values where they were kept. Requires: cursor.left candidates.
void ReadEveryPlace(const Candidates& from, size_t words, SentCursor& cursor,
                    std::byte*& gaps);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TOP_K_CPU_SENT_H_
