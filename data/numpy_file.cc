#include "data/numpy_file.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace skerry::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("numpy file: ", what));
}

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

absl::string_view Absl(std::string_view text) {
  return {text.data(), text.size()};
}

struct Parts {
  std::string_view header;  // a Python dict
  std::span<const std::byte> items;
};

absl::StatusOr<Parts> Split(std::span<const std::byte> bytes) {
  if (!IsNumpyFile(bytes)) return Bad("it does not begin as one");
  constexpr size_t kVersionAt = 6, kLengthAt = 8;
  if (bytes.size() < kLengthAt + sizeof(uint32_t)) {
    return Bad("it ends within its header");
  }
  const int version = std::to_integer<int>(bytes[kVersionAt]);
  if (version < 1 || version > 3) {
    return Bad(absl::StrCat("version ", version, "; 1 to 3 can be read"));
  }
  size_t length_bytes = sizeof(uint16_t);
  uint32_t length = 0;
  if (version == 1) {
    uint16_t narrow = 0;
    std::memcpy(&narrow, bytes.data() + kLengthAt, sizeof(narrow));
    length = narrow;
  } else {
    length_bytes = sizeof(length);
    std::memcpy(&length, bytes.data() + kLengthAt, sizeof(length));
  }
  bytes = bytes.subspan(kLengthAt + length_bytes);
  if (length > bytes.size()) return Bad("it ends within its header");
  return Parts{TextOf(bytes.first(length)), bytes.subspan(length)};
}

// What follows `'key':` up to the end of the value.
std::optional<std::string_view> ValueOf(std::string_view header,
                                        std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const size_t at = header.find(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + quoted.size());
  while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  const size_t end = rest.find(rest.starts_with('(') ? ')' : ',');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, rest.starts_with('(') ? end + 1 : end);
}

std::optional<ItemType> TypeOf(std::string_view description) {
  constexpr std::pair<std::string_view, ItemType> kTypes[] = {
      {"'|u1'", ItemType::kU8},  {"'|i1'", ItemType::kI8},
      {"'<u2'", ItemType::kU16}, {"'<i2'", ItemType::kI16},
      {"'<u4'", ItemType::kU32}, {"'<i4'", ItemType::kI32},
      {"'<u8'", ItemType::kU64}, {"'<i8'", ItemType::kI64}};
  for (const auto& [name, type] : kTypes) {
    if (name == description) return type;
  }
  return std::nullopt;
}

// The product of a tuple's numbers.
std::optional<uint64_t> CountOf(std::string_view shape) {
  constexpr uint64_t kCountMax = uint64_t{1} << 60;
  if (shape.size() < 2 || shape.front() != '(') return std::nullopt;
  uint64_t count = 1;
  bool any = false;
  for (absl::string_view word :
       absl::StrSplit(Absl(shape.substr(1, shape.size() - 2)), ',')) {
    word = absl::StripAsciiWhitespace(word);
    if (word.empty()) continue;
    uint64_t side = 0;
    if (!absl::SimpleAtoi(word, &side)) return std::nullopt;
    if (side > 0 && count > kCountMax / side) return std::nullopt;
    count *= side;
    any = true;
  }
  // A shape of no dimension is one number, not a list of tokens.
  return any ? std::optional(count) : std::nullopt;
}

}  // namespace

bool IsNumpyFile(std::span<const std::byte> bytes) {
  return TextOf(bytes).starts_with(kMagic);
}

absl::StatusOr<TokenArray> ParseNumpyFile(std::span<const std::byte> bytes) {
  SKERRY_ASSIGN_OR_RETURN(const Parts parts, Split(bytes));
  const auto description = ValueOf(parts.header, "descr");
  const auto columns_first = ValueOf(parts.header, "fortran_order");
  const auto shape = ValueOf(parts.header, "shape");
  if (!description || !columns_first || !shape) {
    return Bad("its header has no descr, fortran_order and shape");
  }
  const std::optional<ItemType> type = TypeOf(*description);
  if (!type) {
    return Bad(absl::StrCat("its items are ", Absl(*description),
                            "; tokens are whole numbers, little endian"));
  }
  const std::optional<uint64_t> count = CountOf(*shape);
  if (!count) return Bad(absl::StrCat("its shape is ", Absl(*shape)));
  if (*columns_first != "False") {
    return Bad("it lies columns first; save it with numpy.ascontiguousarray");
  }
  if (parts.items.size() != *count * ItemBytes(*type)) {
    return Bad(absl::StrCat("its shape asks for ", *count * ItemBytes(*type),
                            " bytes, and it holds ", parts.items.size(),
                            "; it is cut short"));
  }
  return TokenArray{parts.items, *type};
}

}  // namespace skerry::data
