#include "data/megatron_index.h"

#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::data {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the index is little endian and is read in place");

constexpr std::string_view kMagic("MMIDIDX\x00\x00", 9);
constexpr uint64_t kVersion = 1;
constexpr size_t kHeaderBytes =
    kMagic.size() + sizeof(uint64_t) + 1 + 2 * sizeof(uint64_t);
// No file has more; keeps sums of lengths and places below 2^63.
constexpr uint64_t kCountMax = uint64_t{1} << 40;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("Megatron index: ", what));
}

template <typename T>
T At(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

std::optional<ItemType> TypeOf(uint8_t code) {
  switch (code) {
    case 1:
      return ItemType::kU8;
    case 2:
      return ItemType::kI8;
    case 3:
      return ItemType::kI16;
    case 4:
      return ItemType::kI32;
    case 5:
      return ItemType::kI64;
    case 8:
      return ItemType::kU16;
    default:
      return std::nullopt;
  }
}

// Each sequence begins where the one before it ended.
absl::StatusOr<uint64_t> TokensIn(std::span<const std::byte> lengths,
                                  std::span<const std::byte> places,
                                  uint64_t sequences, size_t item_bytes) {
  uint64_t tokens = 0;
  for (uint64_t i = 0; i < sequences; ++i) {
    const auto length = At<int32_t>(lengths, i * sizeof(int32_t));
    const auto place = At<int64_t>(places, i * sizeof(int64_t));
    if (length < 0 || place < 0 ||
        static_cast<uint64_t>(place) != tokens * item_bytes) {
      return Bad(absl::StrCat("sequence ", i, " of ", length,
                              " tokens lies at byte ", place,
                              ", not after the one before it"));
    }
    tokens += static_cast<uint64_t>(length);
  }
  return tokens;
}

}  // namespace

absl::StatusOr<MegatronIndex> ParseMegatronIndex(
    std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return Bad("it does not begin as one");
  }
  size_t at = kMagic.size();
  if (const auto version = At<uint64_t>(bytes, at); version != kVersion) {
    return Bad(
        absl::StrCat("version ", version, "; ", kVersion, " can be read"));
  }
  at += sizeof(uint64_t);
  const auto code = At<uint8_t>(bytes, at++);
  const std::optional<ItemType> type = TypeOf(code);
  if (!type) {
    return Bad(absl::StrCat("its items are of type ", code,
                            "; tokens are whole numbers"));
  }
  const auto sequences = At<uint64_t>(bytes, at);
  const auto documents = At<uint64_t>(bytes, at + sizeof(uint64_t));
  if (sequences > kCountMax || documents > kCountMax) {
    return Bad("its counts are impossible");
  }
  const std::span<const std::byte> rest = bytes.subspan(kHeaderBytes);
  const uint64_t length_bytes = sequences * sizeof(int32_t);
  const uint64_t place_bytes = sequences * sizeof(int64_t);
  const uint64_t wanted =
      length_bytes + place_bytes + documents * sizeof(int64_t);
  // Data sets of several modes have a byte more for each sequence.
  if (rest.size() != wanted && rest.size() != wanted + sequences) {
    return Bad(absl::StrCat(sequences, " sequences and ", documents,
                            " documents take ", wanted, " bytes, and it has ",
                            rest.size(), "; it is cut short"));
  }
  SKERRY_ASSIGN_OR_RETURN(const uint64_t tokens,
                          TokensIn(rest.first(length_bytes),
                                   rest.subspan(length_bytes, place_bytes),
                                   sequences, ItemBytes(*type)));
  return MegatronIndex{*type, sequences, tokens};
}

absl::StatusOr<TokenArray> MegatronTokens(const MegatronIndex& index,
                                          std::span<const std::byte> bin) {
  const uint64_t wanted = index.tokens * ItemBytes(index.type);
  if (bin.size() != wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("the index asks for ", wanted,
                     " bytes of tokens, and there "
                     "are ",
                     bin.size(), "; it is cut short or of another set"));
  }
  return TokenArray{bin, index.type};
}

}  // namespace skerry::data
