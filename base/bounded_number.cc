#include "base/bounded_number.h"

#include <cstddef>

#include "absl/strings/escaping.h"

namespace skerry {

std::string QuotedForMessage(std::string_view text) {
  constexpr size_t kShownMax = 60;
  const absl::string_view shown(
      text.data(), text.size() < kShownMax ? text.size() : kShownMax);
  return absl::StrCat("\"", absl::Utf8SafeCHexEscape(shown),
                      text.size() > kShownMax ? "...\"" : "\"");
}

}  // namespace skerry
