#include "runtime/posix/errno_hint.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace skerry::runtime {
namespace {

const char* HintOf(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; make room there";
    case EACCES:
    case EPERM:
      return "; give this user the right to it, or name another";
    case EROFS:
      return "; name a place that can be written";
    default:
      return "";
  }
}

}  // namespace

std::string ErrnoText(int error) {
  return absl::StrCat(std::strerror(error), HintOf(error));
}

}  // namespace skerry::runtime
