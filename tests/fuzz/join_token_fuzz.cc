// Any bytes as a join token, and as a name and a pattern: what is taken is
// written back as it was, and what is not is one line that shows nothing of it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/strings/ascii.h"
#include "base/check.h"
#include "identity/join_token.h"
#include "identity/name.h"

namespace identity = skerry::identity;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto token = identity::ParseJoinToken(text);
  if (token.ok()) {
    SKERRY_CHECK(identity::FormatJoinToken(*token) ==
                 absl::StripAsciiWhitespace({text.data(), text.size()}));
    SKERRY_CHECK(identity::HasHash(*token, identity::HashOf(*token)));
  } else {
    SKERRY_CHECK(token.status().message().find('\n') ==
                 absl::string_view::npos);
  }
  const auto name = identity::ParseName(text);
  if (name.ok()) {
    SKERRY_CHECK(identity::FormatName(*name) == text);
  } else {
    SKERRY_CHECK(name.status().message().find('\n') == absl::string_view::npos);
  }
  const size_t middle = size / 2;
  const bool fits =
      identity::FitsPattern(text.substr(0, middle), text.substr(middle));
  SKERRY_CHECK(fits || text.substr(middle) != "*");
  SKERRY_CHECK(identity::FitsPattern(text, "*"));
  return 0;
}
