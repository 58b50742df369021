#include "cli/number_text.h"

#include <algorithm>
#include <cstdint>

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

absl::Status RefuseWord(std::string_view text) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    uint64_t value = 0;
    if (absl::SimpleHexAtoi(absl::string_view(text.data(), text.size()),
                            &value)) {
      return Hint(absl::StrCat("; write it in decimal: ", value));
    }
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
  if (shift > kDigitsMax) return Hint("");
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
