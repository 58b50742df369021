// base/bounded_number.h
//
// How a program reads a number that a person typed: decimal digits, within
// bounds, or a sentence that says what was expected.
#ifndef SKERRY_BASE_BOUNDED_NUMBER_H_
#define SKERRY_BASE_BOUNDED_NUMBER_H_

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace skerry {

// Both ends are included.
template <typename T>
struct Bounds {
  T low = std::numeric_limits<T>::lowest();
  T high = std::numeric_limits<T>::max();
};

// Returns `text` in quotes for a message of one line: control characters are
// escaped, and a long text is cut.
std::string QuotedForMessage(std::string_view text);

// Returns the number that `text` stands for. A whole number is decimal digits,
// with a minus sign where negative ones are within bounds; 1e6, 1_000, 0x10 and
// +1 are none. InvalidArgument otherwise, with a message that reads on from the
// name of the option: `has to be a whole number from 1 to 64, not "-3"`.
template <typename T>
absl::StatusOr<T> ReadNumber(std::string_view text, Bounds<T> bounds) {
  static_assert(std::is_arithmetic_v<T>);
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  // NaN is not within any bounds.
  if (error == std::errc() && stopped == end && value >= bounds.low &&
      value <= bounds.high) {
    return value;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "has to be a ", std::is_integral_v<T> ? "whole number" : "number",
      " from ", bounds.low, " to ", bounds.high, ", not ",
      QuotedForMessage(text)));
}

}  // namespace skerry

#endif  // SKERRY_BASE_BOUNDED_NUMBER_H_
