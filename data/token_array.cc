#include "data/token_array.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::data {
namespace {

static_assert(std::endian::native == std::endian::little,
              "items are little endian and are read in place");

template <typename Item>
absl::Status Append(std::span<const std::byte> bytes, uint64_t begin,
                    int vocab_size, std::vector<int32_t>& tokens) {
  const size_t before = tokens.size();
  const size_t count = bytes.size() / sizeof(Item);
  tokens.reserve(before + count);
  for (size_t i = 0; i < count; ++i) {
    Item item;
    std::memcpy(&item, bytes.data() + i * sizeof(Item), sizeof(Item));
    // Negative ones become large.
    if (static_cast<uint64_t>(item) >= static_cast<uint64_t>(vocab_size)) {
      tokens.resize(before);
      return absl::InvalidArgumentError(absl::StrCat(
          "token ", begin + i, " is ", item, ", not below the vocabulary's ",
          vocab_size, "; give the vocabulary it was made with"));
    }
    tokens.push_back(static_cast<int32_t>(item));
  }
  return absl::OkStatus();
}

}  // namespace

size_t ItemBytes(ItemType type) {
  switch (type) {
    case ItemType::kU8:
    case ItemType::kI8:
      return 1;
    case ItemType::kU16:
    case ItemType::kI16:
      return 2;
    case ItemType::kU32:
    case ItemType::kI32:
      return 4;
    case ItemType::kU64:
    case ItemType::kI64:
      return 8;
  }
  return 1;
}

absl::Status AppendTokens(const TokenArray& array, uint64_t begin,
                          uint64_t count, int vocab_size,
                          std::vector<int32_t>& tokens) {
  SKERRY_CHECK(begin <= array.size() && count <= array.size() - begin);
  const size_t item = ItemBytes(array.type);
  const auto bytes = array.bytes.subspan(begin * item, count * item);
  switch (array.type) {
    case ItemType::kU8:
      return Append<uint8_t>(bytes, begin, vocab_size, tokens);
    case ItemType::kI8:
      return Append<int8_t>(bytes, begin, vocab_size, tokens);
    case ItemType::kU16:
      return Append<uint16_t>(bytes, begin, vocab_size, tokens);
    case ItemType::kI16:
      return Append<int16_t>(bytes, begin, vocab_size, tokens);
    case ItemType::kU32:
      return Append<uint32_t>(bytes, begin, vocab_size, tokens);
    case ItemType::kI32:
      return Append<int32_t>(bytes, begin, vocab_size, tokens);
    case ItemType::kU64:
      return Append<uint64_t>(bytes, begin, vocab_size, tokens);
    case ItemType::kI64:
      return Append<int64_t>(bytes, begin, vocab_size, tokens);
  }
  return absl::OkStatus();
}

}  // namespace skerry::data
