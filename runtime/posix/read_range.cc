#include "runtime/posix/read_range.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/posix/errno_hint.h"

namespace skerry::runtime {
namespace {

absl::Status Error(const std::string& path, int error) {
  const std::string message =
      absl::StrCat(path, ": cannot read: ", ErrnoText(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EACCES) return absl::PermissionDeniedError(message);
  return absl::InternalError(message);
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> ReadRange(const std::string& path,
                                                 uint64_t offset,
                                                 size_t bytes_max) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error(path, errno);
  const absl::Cleanup closing = [fd] { close(fd); };
  std::vector<std::byte> bytes(bytes_max);
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t n = pread(fd, bytes.data() + filled, bytes.size() - filled,
                            static_cast<off_t>(offset + filled));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error(path, errno);
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace skerry::runtime
