#include "cli/plain_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/number_text.h"

namespace skerry::cli {
namespace {

using nlohmann::json;

constexpr char kHexDigits[] = "0123456789abcdefABCDEF";
constexpr char kInQuotes[] = "; put it in quotes if it is text";

bool IsOneOf(std::string_view text,
             std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

bool HasOnlyDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

std::string_view WithoutSign(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text;
}

// [sign] digits [. digits] [e sign digits], or the same without the digits in
// front of the point. Words such as inf and nan are not among them.
bool LooksLikeFraction(std::string_view text) {
  std::string_view left = WithoutSign(text);
  if (left.empty() || (!IsDigit(left[0]) && left[0] != '.')) return false;
  return left.find_first_not_of("0123456789.eE+-") == std::string_view::npos &&
         std::any_of(left.begin(), left.end(), IsDigit);
}

absl::StatusOr<json> Refuse(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(what, kInQuotes));
}

absl::StatusOr<json> WholeJson(const std::string& text,
                               const std::string& plain) {
  const absl::StatusOr<std::string> digits = WholeNumberText(text);
  if (!digits.ok()) {
    return Refuse(absl::StrCat("has to be a whole number, not ", text,
                               digits.status().message()));
  }
  uint64_t unsigned_value = 0;
  int64_t signed_value = 0;
  if (!plain.starts_with('-') && absl::SimpleAtoi(*digits, &unsigned_value)) {
    return json(unsigned_value);
  }
  if (absl::SimpleAtoi(*digits, &signed_value)) return json(signed_value);
  return Refuse(absl::StrCat("is ", text, ", more than 64 bits hold"));
}

absl::StatusOr<json> WordJson(const std::string& text) {
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return json(nullptr);
  if (IsOneOf(text, {"true", "True", "TRUE"})) return json(true);
  if (IsOneOf(text, {"false", "False", "FALSE"})) return json(false);
  const std::string plain = WithoutUnderscores(text);
  const std::string_view left = WithoutSign(plain);
  if (IsOneOf(left, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"})) {
    return Refuse(absl::StrCat("is ", text, ", which JSON does not have"));
  }
  if (HasOnlyDigits(left)) return WholeJson(text, plain);
  if (IsOneOf(left.substr(0, 2), {"0x", "0o"}) && left.size() > 2 &&
      left.find_first_not_of(kHexDigits, 2) == std::string_view::npos) {
    return Refuse(absl::StrCat("is ", text, "; write the number in decimal"));
  }
  double value = 0;
  if (!LooksLikeFraction(plain) || !absl::SimpleAtod(plain, &value)) {
    return json(text);
  }
  if (std::isfinite(value)) return json(value);
  return Refuse(absl::StrCat("is ", text, ", more than a double holds"));
}

}  // namespace

absl::StatusOr<json> PlainJson(const std::string& text, std::string_view tag) {
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return json(text);
  if (tag.empty() || tag == "?") return WordJson(text);
  return absl::InvalidArgumentError(
      absl::StrCat("has the tag ", absl::string_view(tag.data(), tag.size()),
                   "; leave the tag out"));
}

}  // namespace skerry::cli
