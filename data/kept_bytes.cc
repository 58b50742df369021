#include "data/kept_bytes.h"

#include <algorithm>
#include <cstddef>

namespace skerry::data {
namespace {

// So many equal bytes mean that both are at the same place again.
constexpr size_t kSame = 3;
constexpr size_t kApartMax = 64;

bool Meet(std::string_view a, std::string_view b) {
  const size_t size = std::min({a.size(), b.size(), kSame});
  return size > 0 && a.substr(0, size) == b.substr(0, size);
}

}  // namespace

uint64_t KeptBytes(std::string_view text, std::string_view decoded) {
  uint64_t kept = 0;
  while (!text.empty() && !decoded.empty()) {
    if (text[0] == decoded[0]) {
      ++kept;
      text.remove_prefix(1);
      decoded.remove_prefix(1);
      continue;
    }
    // The nearest place to go on, in one of both or in both.
    size_t skip_text = 1;
    size_t skip_decoded = 1;
    for (size_t apart = 1; apart <= kApartMax; ++apart) {
      const auto rest = [](std::string_view all, size_t skipped) {
        return all.substr(std::min(skipped, all.size()));
      };
      if (Meet(rest(text, apart), decoded)) {
        skip_text = apart;
        skip_decoded = 0;
        break;
      }
      if (Meet(text, rest(decoded, apart))) {
        skip_text = 0;
        skip_decoded = apart;
        break;
      }
      if (Meet(rest(text, apart), rest(decoded, apart))) {
        skip_text = apart;
        skip_decoded = apart;
        break;
      }
    }
    text.remove_prefix(std::min(skip_text, text.size()));
    decoded.remove_prefix(std::min(skip_decoded, decoded.size()));
  }
  return kept;
}

}  // namespace skerry::data
