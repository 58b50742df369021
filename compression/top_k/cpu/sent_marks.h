// compression/top_k/cpu/sent_marks.h
//
// Reads the candidates of a part that are sent: their values in order, and a
// bit for each of the part's values that tells whether it is sent.
#ifndef SKERRY_COMPRESSION_TOP_K_CPU_SENT_MARKS_H_
#define SKERRY_COMPRESSION_TOP_K_CPU_SENT_MARKS_H_

#include <cstddef>
#include <cstdint>

#include "compression/top_k/cpu/candidates.h"
#include "compression/top_k/cpu/sent.h"

namespace skerry::compression::cpu {

// Reads as ReadSent does. But where that writes gaps, this clears the bits of
// candidates that are not sent. It reads the words to the end, also when
// nothing is left, and leaves cursor.first and cursor.next alone.
size_t ReadSentMarks(const Candidates& from, size_t words, uint32_t above,
                     SentCursor& cursor, float* values);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TOP_K_CPU_SENT_MARKS_H_
