#include "cli/read_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/posix/errno_hint.h"

namespace skerry::cli {
namespace {

absl::Status Unreadable(const std::string& path, int error) {
  const bool denied = error == EACCES || error == EPERM;
  return absl::Status(
      denied ? absl::StatusCode::kPermissionDenied
             : absl::StatusCode::kInvalidArgument,
      absl::StrCat("cannot read ", path, ": ", runtime::ErrnoText(error)));
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     size_t bytes_max) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) return Unreadable(path, errno);
  std::string text(bytes_max + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get())) return Unreadable(path, errno);
  if (text.size() > bytes_max) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot read ", path, ": it has more than ", bytes_max, " bytes"));
  }
  return text;
}

}  // namespace skerry::cli
