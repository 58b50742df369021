#include "runtime/posix/start_failure.h"

#include <errno.h>
#include <string.h>

#include "absl/strings/str_cat.h"

namespace skerry::runtime {

absl::Status StartFailure(const std::string& program, int error) {
  const std::string text =
      absl::StrCat("cannot run ", program, ": ", strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case ENOEXEC:
      return absl::PermissionDeniedError(text);
    default:
      return absl::ResourceExhaustedError(text);
  }
}

}  // namespace skerry::runtime
