// data/tokenizer/combining_classes.h
//
// The order in which marks on one character stand, in the version of Unicode
// that the `tokenizers` package knows. tools/gen/nfc_tables.py writes the other
// half of this pair.
#ifndef SKERRY_DATA_TOKENIZER_COMBINING_CLASSES_H_
#define SKERRY_DATA_TOKENIZER_COMBINING_CLASSES_H_

#include <cstdint>
#include <span>

namespace skerry::data {

// Both ends belong to it. The class is above 0.
struct CombiningRange {
  int32_t first;
  int32_t last;
  int combining_class;
};

// Ascending, disjoint. Every other code point has class 0.
std::span<const CombiningRange> CombiningRanges();

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_COMBINING_CLASSES_H_
