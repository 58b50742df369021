#include "job/text_forms.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "job/limits.h"

namespace skerry::job {
namespace {

// Bytes of a refused text that a message repeats.
constexpr size_t kShownMax = 80;

}  // namespace

bool IsLabel(std::string_view text, std::string_view extra) {
  if (text.empty() || text.size() > kLabelBytesMax) return false;
  for (const char c : text) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      c == '-' || extra.find(c) != std::string_view::npos;
    if (!fine) return false;
  }
  return true;
}

std::string Quoted(std::string_view text) {
  const std::string shown(text.substr(0, kShownMax));
  return absl::StrCat("\"", absl::CHexEscape(shown), "\"",
                      shown.size() < text.size() ? " and so on" : "");
}

}  // namespace skerry::job
