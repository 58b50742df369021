// data/kept_bytes.h
//
// Measures how much of a text is left after a tokenizer has encoded and decoded
// it.
#ifndef SKERRY_DATA_KEPT_BYTES_H_
#define SKERRY_DATA_KEPT_BYTES_H_

#include <cstdint>
#include <string_view>

namespace skerry::data {

// Bytes of `text` that stand in `decoded` in the same order. Where the two
// differ, the shortest insertions and deletions are tried that bring them
// together again, up to 64 bytes; so it is a lower bound, and linear.
uint64_t KeptBytes(std::string_view text, std::string_view decoded);

}  // namespace skerry::data

#endif  // SKERRY_DATA_KEPT_BYTES_H_
