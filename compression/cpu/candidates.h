// compression/cpu/candidates.h
//
// Values that may be sent, with where they are in runs of 256 values: a byte
// each, so that they take little memory until it is known which are sent.
// Magnitudes are compared as in compression/cpu/select.h.
#ifndef SKERRY_COMPRESSION_CPU_CANDIDATES_H_
#define SKERRY_COMPRESSION_CPU_CANDIDATES_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

inline constexpr size_t kRunElements = 256;
// What arrays that these write have beyond the values that are meant.
inline constexpr size_t kCandidateSlack = 64;

// Arrays of one part of a slice. ends[0] is 0, ends[r + 1] how many candidates
// there are up to the end of run r.
struct Candidates {
  uint8_t* places;  // in their run
  float* values;
  uint32_t* ends;
};

// Appends the magnitudes of at least `bits` of `values`, which begin with run
// `run`. Requires: only the last run of all is shorter than 256 values; room
// for all of `values` and kCandidateSlack behind ends[run]; bits <= 2^31.
void CollectRuns(std::span<const float> values, uint32_t bits, size_t run,
                 const Candidates& to);

// Writes the candidates of at least `bits` of runs [first, last), in order, and
// their places counted from run 0; returns how many. Requires: room for all
// candidates of the runs and kCandidateSlack; bits <= 2^31.
size_t KeepOfRuns(const Candidates& from, size_t first, size_t last,
                  uint32_t bits, uint32_t* places, float* values);

// Writes values of less than `bits`, in order; returns how many. Sets `finite`
// to false where one of all is not. Requires: bits <= 2^31, and room for what
// is written and kCandidateSlack.
size_t CopyBelow(std::span<const float> values, uint32_t bits, float* below,
                 bool& finite);

// Moves magnitudes of [low, high) to the front, in order; returns how many.
// Requires: low <= high <= 2^31.
size_t KeepBetween(std::span<float> values, uint32_t low, uint32_t high);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_CANDIDATES_H_
