#include "cli/number_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace skerry::cli {
namespace {

// Above any number that a field takes.
constexpr int kDigitsMax = 24;

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

bool AreDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

absl::Status Hint(const std::string& hint) {
  return absl::InvalidArgumentError(hint);
}

// 010 is 10 to YAML 1.2 and 8 to YAML 1.1.
absl::Status RefuseLeadingZero(std::string_view digits) {
  const std::string plain(digits.substr(digits.find_first_not_of('0')));
  if (digits.find_first_of("89") != std::string_view::npos) {
    return Hint(absl::StrCat("; write ", plain, " without a leading zero"));
  }
  return Hint(absl::StrCat(
      "; some readers take a leading zero for octal: "
      "write ",
      plain, ", or ", std::stoull(plain, nullptr, 8), " if octal is meant"));
}

// The value of 0x1f, 0o17 or 0b11.
bool ReadOtherBase(std::string_view text, uint64_t* value) {
  if (text.size() < 3 || text[0] != '0') return false;
  int base = 0;
  switch (absl::ascii_tolower(static_cast<unsigned char>(text[1]))) {
    case 'x':
      base = 16;
      break;
    case 'o':
      base = 8;
      break;
    case 'b':
      base = 2;
      break;
    default:
      return false;
  }
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + 2, end, *value, base);
  return read.ec == std::errc() && read.ptr == end;
}

// 9,600 is 9600 to some and 9.6 to others.
bool HasThousands(std::string_view text) {
  size_t comma = text.find(',');
  if (comma == 0 || comma > 3 || !AreDigits(text.substr(0, comma))) {
    return false;
  }
  for (; comma < text.size(); comma += 4) {
    if (text[comma] != ',' || !AreDigits(text.substr(comma + 1, 3)) ||
        text.size() - comma < 4) {
      return false;
    }
  }
  return true;
}

absl::Status RefuseWord(std::string_view text) {
  uint64_t value = 0;
  if (ReadOtherBase(text, &value)) {
    return Hint(absl::StrCat("; write it in decimal: ", value));
  }
  if (HasThousands(text)) {
    std::string plain(text);
    plain.erase(std::remove(plain.begin(), plain.end(), ','), plain.end());
    return Hint(absl::StrCat("; write it without commas: ", plain));
  }
  if (text.size() < 2 || !AreDigits(text.substr(0, text.size() - 1))) {
    return Hint("");
  }
  const size_t power = std::string_view("kmgt").find(
      absl::ascii_tolower(static_cast<unsigned char>(text.back())));
  uint64_t number = 0;
  if (power == std::string_view::npos ||
      !absl::SimpleAtoi(absl::string_view(text.data(), text.size() - 1),
                        &number) ||
      number > 1000) {
    return Hint("");
  }
  uint64_t thousands = number;
  for (size_t i = 0; i <= power; ++i) thousands *= 1000;
  return Hint(absl::StrCat("; write the number out: ", thousands, ", or ",
                           number << (10 * (power + 1))));
}

struct Parts {
  std::string_view whole;
  std::string_view fraction;
  int exponent = 0;
};

// Whether `text` is DIGITS[.DIGITS][eSIGNED_DIGITS].
bool Split(std::string_view text, Parts* parts) {
  const size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    if (exponent.empty() || exponent.size() > 4 ||
        !absl::SimpleAtoi(absl::string_view(exponent.data(), exponent.size()),
                          &parts->exponent)) {
      return false;
    }
    text = text.substr(0, e);
  }
  const size_t point = text.find('.');
  parts->whole = text.substr(0, point);
  if (point != std::string_view::npos) parts->fraction = text.substr(point + 1);
  return AreDigits(parts->whole) &&
         (parts->fraction.empty() || AreDigits(parts->fraction));
}

}  // namespace

std::string WithoutUnderscores(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between = text[i] == '_' && i > 0 && i + 1 < text.size() &&
                         IsDigit(text[i - 1]) && IsDigit(text[i + 1]);
    if (!between) out += text[i];
  }
  return out;
}

absl::StatusOr<std::string> WholeNumberText(std::string_view text) {
  const std::string plain = WithoutUnderscores(text);
  std::string_view left = plain;
  const bool minus = left.starts_with('-');
  if (minus || left.starts_with('+')) left.remove_prefix(1);
  if (left.size() > 1 && left[0] == '0' && AreDigits(left) &&
      left.find_first_not_of('0') != std::string_view::npos) {
    if (left.size() > kDigitsMax / 2) return Hint("");
    return RefuseLeadingZero(left);
  }
  Parts parts;
  if (!Split(left, &parts)) return RefuseWord(left);
  std::string digits = absl::StrCat(
      absl::string_view(parts.whole.data(), parts.whole.size()),
      absl::string_view(parts.fraction.data(), parts.fraction.size()));
  const int64_t shift =
      parts.exponent - static_cast<int64_t>(parts.fraction.size());
  if (shift > kDigitsMax) return Hint("; no field takes that much");
  if (shift > 0) digits.append(static_cast<size_t>(shift), '0');
  for (int64_t i = shift; i < 0; ++i) {
    if (digits.empty()) break;
    if (digits.back() != '0') return Hint("");
    digits.pop_back();
  }
  const size_t first = digits.find_first_not_of('0');
  digits = first == std::string::npos ? "0" : digits.substr(first);
  return minus && digits != "0" ? "-" + digits : digits;
}

}  // namespace skerry::cli
