#include "runtime/posix/posix_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/errno_hint.h"

namespace skerry::runtime {
namespace {

constexpr std::string_view kTemporarySuffix = ".tmp";

absl::Status Failure(const std::string& path, const char* doing, int error) {
  const std::string text =
      absl::StrCat(path, ": cannot ", doing, ": ", ErrnoText(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::InternalError(text);
  }
}

// After a failed sync the kernel may have dropped the dirty pages, so a second
// try that succeeds would prove nothing.
absl::Status SyncFailure(const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT) return Failure(path, "sync", error);
  return absl::DataLossError(
      absl::StrCat(path, ": cannot sync: ", strerror(error)));
}

// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int OpenRetrying(const std::string& path, int flags, mode_t mode = 0) {
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status SyncDirectory(const std::string& directory) {
  const Descriptor fd(OpenRetrying(directory, O_RDONLY | O_DIRECTORY));
  if (fd.get() < 0) return Failure(directory, "open", errno);
  if (fsync(fd.get()) != 0) return SyncFailure(directory, errno);
  return absl::OkStatus();
}

absl::Status WriteAll(int fd, const std::string& path, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failure(path, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status WriteAndSync(const std::string& path,
                          std::span<const ByteSpan> pieces) {
  const Descriptor fd(
      OpenRetrying(path, O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR));
  if (fd.get() < 0) return Failure(path, "create", errno);
  for (const ByteSpan piece : pieces) {
    SKERRY_RETURN_IF_ERROR(WriteAll(fd.get(), path, piece));
  }
  if (fsync(fd.get()) != 0) return SyncFailure(path, errno);
  return absl::OkStatus();
}

struct Entries {
  std::vector<std::string> files;  // regular ones that are no leftovers
  std::vector<std::string> directories;
  std::vector<std::string> leftovers;
};

void Sort(const dirent& entry, int directory, Entries& entries) {
  const std::string_view name = entry.d_name;
  if (name == "." || name == "..") return;
  struct stat info;
  if (fstatat(directory, entry.d_name, &info, 0) != 0) return;
  if (S_ISDIR(info.st_mode)) {
    entries.directories.emplace_back(name);
  } else if (S_ISREG(info.st_mode)) {
    (name.ends_with(kTemporarySuffix) ? entries.leftovers : entries.files)
        .emplace_back(name);
  }
}

absl::StatusOr<Entries> ListEntries(const std::string& directory) {
  DIR* stream = opendir(directory.c_str());
  if (stream == nullptr) return Failure(directory, "open", errno);
  Entries entries;
  int error = 0;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(stream);
    if (entry == nullptr) {
      error = errno;
      break;
    }
    Sort(*entry, dirfd(stream), entries);
  }
  closedir(stream);
  if (error != 0) return Failure(directory, "list", error);
  std::sort(entries.files.begin(), entries.files.end());
  std::sort(entries.directories.begin(), entries.directories.end());
  return entries;
}

// Unique in this process; a leftover of a former process may be overwritten.
std::string TemporaryFor(const std::string& path) {
  static std::atomic<uint64_t> made = 0;
  return absl::StrCat(path, ".", made.fetch_add(1), ".tmp");
}

}  // namespace

absl::Status PosixFiles::WriteDurably(const std::string& path,
                                      std::span<const ByteSpan> pieces) {
  const std::string temporary = TemporaryFor(path);
  absl::Status status = WriteAndSync(temporary, pieces);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = Failure(path, "rename into place", errno);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncDirectory(ParentOf(path));
}

absl::StatusOr<std::vector<std::byte>> PosixFiles::Read(
    const std::string& path) const {
  const Descriptor fd(OpenRetrying(path, O_RDONLY));
  if (fd.get() < 0) return Failure(path, "open", errno);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return Failure(path, "stat", errno);
  if (!S_ISREG(info.st_mode)) return Failure(path, "read", EISDIR);
  std::vector<std::byte> bytes(static_cast<size_t>(info.st_size));
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t n =
        read(fd.get(), bytes.data() + filled, bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failure(path, "read", errno);
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  bytes.resize(filled);
  return bytes;
}

absl::StatusOr<std::vector<std::string>> PosixFiles::List(
    const std::string& directory) const {
  SKERRY_ASSIGN_OR_RETURN(Entries entries, ListEntries(directory));
  return std::move(entries.files);
}

absl::StatusOr<std::vector<std::string>> PosixFiles::ListDirectories(
    const std::string& directory) const {
  SKERRY_ASSIGN_OR_RETURN(Entries entries, ListEntries(directory));
  return std::move(entries.directories);
}

absl::Status PosixFiles::Rename(const std::string& from,
                                const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) {
    return Failure(from, "rename", errno);
  }
  return SyncDirectory(ParentOf(to));
}

absl::Status PosixFiles::Remove(const std::string& path) {
  if (unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return absl::OkStatus();
    return Failure(path, "remove", errno);
  }
  return SyncDirectory(ParentOf(path));
}

absl::Status PosixFiles::RemoveDirectory(const std::string& directory) {
  const absl::StatusOr<Entries> entries = ListEntries(directory);
  if (absl::IsNotFound(entries.status())) return absl::OkStatus();
  SKERRY_RETURN_IF_ERROR(entries.status());
  if (!entries->files.empty() || !entries->directories.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": cannot remove: is not empty"));
  }
  for (const std::string& name : entries->leftovers) {
    unlink(absl::StrCat(directory, "/", name).c_str());
  }
  if (rmdir(directory.c_str()) != 0 && errno != ENOENT) {
    return Failure(directory, "remove", errno);
  }
  return SyncDirectory(ParentOf(directory));
}

absl::Status PosixFiles::MakeDirectory(const std::string& directory) {
  struct stat info;
  if (stat(directory.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return absl::OkStatus();
    return Failure(directory, "make directory", ENOTDIR);
  }
  const std::string parent = ParentOf(directory);
  if (parent != directory) SKERRY_RETURN_IF_ERROR(MakeDirectory(parent));
  if (mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return Failure(directory, "make directory", errno);
  }
  return SyncDirectory(parent);
}

}  // namespace skerry::runtime
