// compression/top_k/cpu/stretch_codes.h
//
// Makes int8 codes for values that share a scale because their places are
// neighbours (a stretch). If a stretch sends anything, it sends the largest of
// its candidates. So codes can be made before it is known which candidates are
// sent. Scales and codes are those of compression/dense/cpu/int8_block.h.
// Magnitudes are compared as in compression/top_k/cpu/select.h.
#ifndef SKERRY_COMPRESSION_TOP_K_CPU_STRETCH_CODES_H_
#define SKERRY_COMPRESSION_TOP_K_CPU_STRETCH_CODES_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

// Places of a stretch, at most.
inline constexpr size_t kStretchMost = 2048;
// Arrays of codes that these functions write or read have this many elements
// more than the codes.
inline constexpr size_t kCodeSlack = 128;

// Where the results for a stretch are written.
struct StretchCodes {
  uint64_t* words;   // bit i % 64 of words[i / 64]: value i may be sent
  std::byte* codes;  // of those that may be, in order
  uint64_t* open;    // a bit for each of these: the threshold decides
  float* band;       // the values of these
};

struct CodedStretch {
  size_t found = 0;   // may be sent
  size_t banded = 0;  // of these, open
  float scale = 0.0f;
  bool finite = true;  // all that may be sent; else the codes mean nothing
};

// Words that have a bit for each of so many values.
constexpr size_t WordsOf(size_t values) { return (values + 63) / 64; }

// Codes one stretch. Magnitudes of at least `low` are candidates, and those
// below `high` are open. Requires: kStretchMost values at most, low <= high, 1
// <= high < 2^31; room for the words of as many bits, and for as many codes and
// values of the band as there are values and kCodeSlack.
CodedStretch CodeStretch(std::span<const float> values, uint32_t low,
                         uint32_t high, const StretchCodes& to);

// Writes a bit for each value of a band that tells whether it is sent.
// Magnitudes above `above` are sent, and the first `ties` of those that equal
// it. Requires: room in `kept` for a word more than the bits take, and 64
// values that are readable after the band.
void ChooseBand(std::span<const float> band, uint32_t above, size_t ties,
                uint64_t* kept);

// ChooseBand's result for a part's band, from the next stretch on.
struct KeptBand {
  const uint64_t* kept;
  size_t passed = 0;
};

struct TakenCodes {
  size_t found = 0;  // codes that were looked at
  size_t sent = 0;
};

// Writes the codes of the sent values of a stretch of `count` words, and clears
// the bits of the others. Requires: room for kStretchMost codes and kCodeSlack.
TakenCodes TakeCodes(const StretchCodes& from, size_t count, KeptBand& band,
                     std::byte* taken);

// Writes the codes of finite values and returns their scale: 0 for none.
// Requires: kStretchMost values at most, and room for kCodeSlack more.
float EncodeStretch(std::span<const float> values, std::byte* codes);

// What is written, whatever it is, behind the values that DecodeStretch gives.
inline constexpr size_t kStretchSlack = 64;

// False where a code is none. Requires: a scale that int8_block takes.
bool DecodeStretch(std::span<const std::byte> codes, float scale,
                   float* values);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TOP_K_CPU_STRETCH_CODES_H_
