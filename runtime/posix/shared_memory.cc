#include "runtime/posix/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::runtime {
namespace {

absl::Status Error(const char* doing, const std::string& name, int error) {
  const std::string message = absl::StrCat(
      "shared memory ", name, ": cannot ", doing, ": ", std::strerror(error),
      error == ENOSPC ? "; make room in /dev/shm, or mount a larger one" : "");
  switch (error) {
    case EEXIST:
      return absl::AlreadyExistsError(message);
    case ENOENT:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::InternalError(message);
  }
}

absl::StatusOr<std::byte*> Map(int fd, const std::string& name, size_t size) {
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return Error("map", name, errno);
  return static_cast<std::byte*>(data);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Create(
    const std::string& name, size_t size) {
  const int fd = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (fd < 0) return Error("create", name, errno);
  // Pages are taken now: a full /dev/shm is an answer here, not a signal later.
  const int error = posix_fallocate(fd, 0, static_cast<off_t>(size));
  absl::StatusOr<std::byte*> data =
      error == 0
          ? Map(fd, name, size)
          : Error(absl::StrCat("take ", size, " bytes").c_str(), name, error);
  close(fd);
  if (!data.ok()) {
    shm_unlink(name.c_str());
    return data.status();
  }
  return std::unique_ptr<SharedMemory>(
      new SharedMemory(name, *data, size, /*owner=*/true));
}

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Open(
    const std::string& name) {
  const int fd = shm_open(name.c_str(), O_RDWR, 0);
  if (fd < 0) return Error("open", name, errno);
  struct stat status;
  if (fstat(fd, &status) != 0) {
    const int error = errno;
    close(fd);
    return Error("size", name, error);
  }
  const size_t size = static_cast<size_t>(status.st_size);
  absl::StatusOr<std::byte*> data = Map(fd, name, size);
  close(fd);
  if (!data.ok()) return data.status();
  return std::unique_ptr<SharedMemory>(
      new SharedMemory(name, *data, size, /*owner=*/false));
}

SharedMemory::SharedMemory(std::string name, std::byte* data, size_t size,
                           bool owner)
    : name_(std::move(name)), data_(data), size_(size), owner_(owner) {}

SharedMemory::~SharedMemory() {
  munmap(data_, size_);
  if (owner_) Unlink();
}

void SharedMemory::Unlink() {
  shm_unlink(name_.c_str());
  owner_ = false;
}

}  // namespace skerry::runtime
