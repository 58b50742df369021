#include "identity/revoked_word.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/bounded_number.h"
#include "identity/name.h"

namespace skerry::identity {
namespace {

// RFC 5280, 4.1.2.2: at most 20 bytes.
constexpr size_t kSerialDigitsMax = 40;

}  // namespace

absl::StatusOr<std::string> RevokedWord(std::string_view text) {
  if (ParseName(text).ok()) return std::string(text);
  std::string serial(text);
  absl::AsciiStrToUpper(&serial);
  serial.erase(0, serial.find_first_not_of('0'));
  if (!serial.empty() && serial.size() <= kSerialDigitsMax &&
      std::all_of(serial.begin(), serial.end(), absl::ascii_isxdigit)) {
    return serial;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      QuotedForMessage(text),
      " is neither a name, as spiffe://CLUSTER/island/ISLAND/worker/NAME, nor "
      "a serial number in hexadecimal digits"));
}

}  // namespace skerry::identity
