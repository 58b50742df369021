// data/tokenizer/character_ranges.h
//
// Which code points are letters, numbers and spaces to the regular expressions
// of the `tokenizers` package. tools/gen/character_ranges.py asks the package
// about every code point and writes the other half of this pair.
#ifndef SKERRY_DATA_TOKENIZER_CHARACTER_RANGES_H_
#define SKERRY_DATA_TOKENIZER_CHARACTER_RANGES_H_

#include <cstdint>
#include <span>

namespace skerry::data {

// Both ends belong to it.
struct CodeRange {
  int32_t first;
  int32_t last;
};

// Ascending, disjoint.
std::span<const CodeRange> LetterRanges();
std::span<const CodeRange> NumberRanges();
std::span<const CodeRange> SpaceRanges();

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_CHARACTER_RANGES_H_
