#include "transport/grpc/revocations.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "identity/revoked_word.h"

namespace skerry::transport {

absl::StatusOr<RevokedList> ParseRevokedList(std::string_view text) {
  RevokedList revoked;
  int number = 0;
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    const std::string line(part.substr(0, part.find('#')));
    const std::string word(absl::StripAsciiWhitespace(line));
    if (word.empty()) continue;
    absl::StatusOr<std::string> read = identity::RevokedWord(word);
    SKERRY_RETURN_IF_ERROR(
        Annotate(read.status(), absl::StrCat("line ", number)));
    revoked.insert(*std::move(read));
  }
  return revoked;
}

}  // namespace skerry::transport
