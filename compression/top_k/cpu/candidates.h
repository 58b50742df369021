// compression/top_k/cpu/candidates.h
//
// Candidates are values that may be sent. They are kept until it is known which
// of them are sent. A bit for each value of a part tells where they are, and an
// array has them in order. Magnitudes are compared as in
// compression/top_k/cpu/select.h.
#ifndef SKERRY_COMPRESSION_TOP_K_CPU_CANDIDATES_H_
#define SKERRY_COMPRESSION_TOP_K_CPU_CANDIDATES_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

// Values of one word of bits.
inline constexpr size_t kWordValues = 64;
// Arrays that these functions write or read have this many elements more than
// the values.
inline constexpr size_t kCandidateSlack = 64;

// The candidates of one part of a slice. Bit i % 64 of words[i / 64] tells
// whether the part's value i is one. `values` has the candidates in order.
struct Candidates {
  uint64_t* words;
  float* values;
};

// Adds the magnitudes of at least `bits` of `values`, which begin with word
// `word`, behind `found` candidates; returns how many there are then. Requires:
// only the last values of all are less than whole words; room for `values`, the
// words of them, and kCandidateSlack; bits <= 2^31.
size_t CollectCandidates(std::span<const float> values, uint32_t bits,
                         size_t word, size_t found, const Candidates& to);

// Writes values of less than `bits`, in order; returns how many. Sets `finite`
// to false where one of all is not. Requires: bits <= 2^31, and room for what
// is written and kCandidateSlack.
size_t CopyBelow(std::span<const float> values, uint32_t bits, float* below,
                 bool& finite);

struct Between {
  size_t copied = 0;
  size_t above = 0;  // from `high` on
};

// Writes magnitudes of [low, high), in order. Requires: low <= high <= 2^31,
// and room for what is written and kCandidateSlack.
Between CopyBetween(std::span<const float> values, uint32_t low, uint32_t high,
                    float* between);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TOP_K_CPU_CANDIDATES_H_
