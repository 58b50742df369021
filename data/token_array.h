// data/token_array.h
//
// Reads tokens as other tools store them: whole numbers of one size,
// little-endian, one after the other.
#ifndef SKERRY_DATA_TOKEN_ARRAY_H_
#define SKERRY_DATA_TOKEN_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

namespace skerry::data {

enum class ItemType { kU8, kI8, kU16, kI16, kU32, kI32, kU64, kI64 };

size_t ItemBytes(ItemType type);

// The bytes are borrowed; there is a whole number of items.
struct TokenArray {
  std::span<const std::byte> bytes;
  ItemType type = ItemType::kU16;

  uint64_t size() const { return bytes.size() / ItemBytes(type); }
};

// Appends tokens [begin, begin + count). Requires: they exist.
// Errors: InvalidArgument that names the place of the first one outside
// [0, vocab_size); then nothing was appended.
absl::Status AppendTokens(const TokenArray& array, uint64_t begin,
                          uint64_t count, int vocab_size,
                          std::vector<int32_t>& tokens);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKEN_ARRAY_H_
