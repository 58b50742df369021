#include "runtime/blob_key.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace skerry::runtime {
namespace {

constexpr size_t kPartBytesMax = 200;

}  // namespace

bool IsBlobKeyPart(std::string_view part) {
  return !part.empty() && part.size() <= kPartBytesMax && part[0] != '.' &&
         std::all_of(part.begin(), part.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

absl::Status CheckBlobKey(std::string_view key) {
  for (std::string_view rest = key;;) {
    const size_t slash = rest.find('/');
    if (!IsBlobKeyPart(rest.substr(0, slash))) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", absl::string_view(key.data(), key.size()),
                       "\" cannot name a blob"));
    }
    if (slash == std::string_view::npos) return absl::OkStatus();
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace skerry::runtime
