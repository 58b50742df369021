#include "transport/grpc/revocations.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/bounded_number.h"
#include "identity/name.h"

namespace skerry::transport {
namespace {

// Certificates show serial numbers in upper case, without leading zeros.
bool IsSerial(const std::string& word) {
  return word.front() != '0' &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'A' && c <= 'F');
         });
}

}  // namespace

absl::StatusOr<RevokedList> ParseRevokedList(std::string_view text) {
  RevokedList revoked;
  int number = 0;
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    const std::string line(part.substr(0, part.find('#')));
    std::string word(absl::StripAsciiWhitespace(line));
    if (word.empty()) continue;
    if (!identity::ParseName(word).ok()) {
      word = absl::AsciiStrToUpper(word);
      word.erase(0, word.find_first_not_of('0'));
      if (word.empty() || !IsSerial(word)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "line ", number, ": ", QuotedForMessage(line),
            " is neither a name, as spiffe://CLUSTER/island/ISLAND/worker/NAME,"
            " nor a serial number in hexadecimal digits"));
      }
    }
    revoked.insert(std::move(word));
  }
  return revoked;
}

}  // namespace skerry::transport
