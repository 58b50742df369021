#include "cli/home_path.h"

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace skerry::cli {

absl::StatusOr<std::string> HomePath(const std::string& path) {
  if (!path.starts_with('~')) return path;
  const char* const home = std::getenv("HOME");
  if ((path.size() > 1 && path[1] != '/') || home == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "is ", path, ", whose home folder is not known; write it in full"));
  }
  return home + path.substr(1);
}

}  // namespace skerry::cli
