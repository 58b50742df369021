// data/tokenizer/canonical_singletons.h
//
// Which characters are canonically equivalent to another one, in the version of
// Unicode that the `tokenizers` package knows. tools/gen/nfc_tables.py asks the
// package about every code point and writes the other half of this pair.
#ifndef SKERRY_DATA_TOKENIZER_CANONICAL_SINGLETONS_H_
#define SKERRY_DATA_TOKENIZER_CANONICAL_SINGLETONS_H_

#include <cstdint>
#include <span>

namespace skerry::data {

// The code points first, first + 1, ... of which there are `count`.
struct CodeRun {
  int32_t first;
  int32_t count;
};

// The code points of the runs, one after another, become the code points of the
// list, and never come back.
std::span<const CodeRun> SingletonRuns();
std::span<const int32_t> Singletons();

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_CANONICAL_SINGLETONS_H_
