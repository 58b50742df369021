#include "runtime/posix/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/posix/errno_hint.h"

namespace skerry::runtime {
namespace {

absl::Status Failure(const char* doing, const std::string& path, int error) {
  return absl::Status(
      absl::ErrnoToStatusCode(error),
      absl::StrCat("cannot ", doing, " ", path, ": ", ErrnoText(error)));
}

std::string HolderOf(int fd) {
  char text[32];
  const ssize_t count = pread(fd, text, sizeof(text), 0);
  if (count <= 0) return "unknown";
  return std::string(absl::StripSuffix(
      absl::string_view(text, static_cast<size_t>(count)), "\n"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(
    const std::string& folder, const std::string& user,
    const std::string& file) {
  const std::string path = absl::StrCat(folder, "/", file);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) {
    return Failure("open", path, errno);
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string holder = HolderOf(fd);
    close(fd);
    if (error != EWOULDBLOCK) {
      return Failure("lock", path, error);
    }
    return absl::FailedPreconditionError(
        absl::StrCat(folder, " is in use by another ", user, " (process ",
                     holder, "); stop it or name another folder"));
  }
  const std::string holder = absl::StrCat(getpid(), "\n");
  // The number helps people only; the lock is the kernel's.
  if (ftruncate(fd, 0) != 0 ||
      pwrite(fd, holder.data(), holder.size(), 0) < 0) {
    const int error = errno;
    close(fd);
    return Failure("write", path, error);
  }
  return std::unique_ptr<FolderLock>(new FolderLock(path, fd));
}

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Share(
    const std::string& folder, const std::string& user) {
  const std::string path = absl::StrCat(folder, "/", kFile);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::unique_ptr<FolderLock>();
  if (fd < 0) {
    return Failure("open", path, errno);
  }
  if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
    return std::unique_ptr<FolderLock>(new FolderLock(path, fd));
  }
  const int error = errno;
  const std::string holder = HolderOf(fd);
  close(fd);
  if (error != EWOULDBLOCK) {
    return Failure("lock", path, error);
  }
  return absl::FailedPreconditionError(absl::StrCat("a ", user, " (process ",
                                                    holder, ") serves from ",
                                                    folder, "; stop it first"));
}

absl::Status FolderLock::StillHeld() const {
  struct stat held;
  struct stat there;
  if (fstat(fd_, &held) == 0 && stat(path_.c_str(), &there) == 0 &&
      held.st_dev == there.st_dev && held.st_ino == there.st_ino) {
    return absl::OkStatus();
  }
  return absl::AbortedError(
      absl::StrCat(path_, " was removed or replaced while it was held"));
}

FolderLock::~FolderLock() { close(fd_); }

}  // namespace skerry::runtime
