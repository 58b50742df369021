// data/tokenizer/canonical_pairs.h
//
// Which characters are canonically equivalent to two others, in the version of
// Unicode that the `tokenizers` package knows. tools/gen/nfc_tables.py asks the
// package about every code point and writes the other half of this pair.
#ifndef SKERRY_DATA_TOKENIZER_CANONICAL_PAIRS_H_
#define SKERRY_DATA_TOKENIZER_CANONICAL_PAIRS_H_

#include <cstdint>
#include <span>

#include "data/tokenizer/canonical_singletons.h"

namespace skerry::data {

struct CodePair {
  int32_t first;
  int32_t second;
};

// The code points of the runs, one after another, are equivalent to the pairs
// of the list. Hangul syllables, which follow a rule, are not in them.
std::span<const CodeRun> PairRuns();
std::span<const CodePair> Pairs();
// Code points of PairRuns that their pair does not become again; ascending.
std::span<const int32_t> NotComposed();

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_CANONICAL_PAIRS_H_
