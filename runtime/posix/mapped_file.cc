#include "runtime/posix/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

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

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(
    const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error(path, errno);
  struct stat status;
  if (fstat(fd, &status) != 0) {
    const int error = errno;
    close(fd);
    return Error(path, error);
  }
  const size_t size = static_cast<size_t>(status.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      const int error = errno;
      close(fd);
      return Error(path, error);
    }
  }
  close(fd);
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (size_ > 0) munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::WillRead(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t first = begin / page * page;
  (void)posix_madvise(reinterpret_cast<void*>(first),
                      begin + bytes.size() - first, POSIX_MADV_WILLNEED);
}

}  // namespace skerry::runtime
