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
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/errno_hint.h"
#include "runtime/posix/folder_lock.h"

namespace skerry::runtime {
namespace {

constexpr std::string_view kTemporarySuffix = ".tmp";
constexpr std::string_view kStandardInput = "-";
// Bytes after which the disk is told to begin with a file that is being made.
constexpr uint64_t kWritebackBytes = 4 << 20;
// What keeps others out of a folder; no data and no state is called so.
constexpr char kHoldFile[] = ".skerry-lock";

absl::Status Failure(const std::string& path, const char* doing, int error) {
  const std::string text =
      absl::StrCat(path, ": cannot ", doing, ": ", ErrnoText(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EISDIR:
      return absl::InvalidArgumentError(text + "; name a file");
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
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
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

// `read_once` is read or pread.
absl::StatusOr<size_t> ReadRetrying(const std::string& path,
                                    absl::FunctionRef<ssize_t()> read_once) {
  ssize_t n;
  do {
    n = read_once();
  } while (n < 0 && errno == EINTR);
  if (n < 0) return Failure(path, "read", errno);
  return static_cast<size_t>(n);
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

absl::Status WriteAndSync(const std::string& path, mode_t mode,
                          std::span<const ByteSpan> pieces) {
  const Descriptor fd(OpenRetrying(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
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

// The file that a temporary name is for; none when it has another form.
std::optional<std::string_view> FileOfTemporary(std::string_view name) {
  if (!name.ends_with(kTemporarySuffix)) return std::nullopt;
  name.remove_suffix(kTemporarySuffix.size());
  const size_t last = name.find_last_not_of("0123456789");
  if (last == name.npos || last + 1 == name.size() || name[last] != '.') {
    return std::nullopt;
  }
  return name.substr(0, last);
}

mode_t FileMode(PosixFiles::Access access) {
  return access == PosixFiles::Access::kOwner ? 0600 : 0666;
}

class DescriptorSource final : public ByteSource {
 public:
  DescriptorSource(std::string path, Descriptor fd, bool can_repeat)
      : path_(std::move(path)), fd_(std::move(fd)), can_repeat_(can_repeat) {}

  absl::StatusOr<size_t> Read(std::span<std::byte> out) override {
    return ReadRetrying(
        path_, [&] { return read(fd_.get(), out.data(), out.size()); });
  }
  bool can_repeat() const override { return can_repeat_; }

 private:
  const std::string path_;
  const Descriptor fd_;
  const bool can_repeat_;
};

class TemporarySink final : public ByteSink {
 public:
  TemporarySink(std::string path, std::string temporary, Descriptor fd)
      : path_(std::move(path)),
        temporary_(std::move(temporary)),
        fd_(std::move(fd)) {}
  ~TemporarySink() override {
    if (!is_committed_) unlink(temporary_.c_str());
  }

  absl::Status Append(ByteSpan bytes) override {
    SKERRY_RETURN_IF_ERROR(WriteAll(fd_.get(), path_, bytes));
    appended_ += bytes.size();
    if (appended_ - begun_ >= kWritebackBytes) {
      // The disk begins to write now, so that less is left for Commit. Whether
      // it does is of no matter.
      sync_file_range(fd_.get(), static_cast<off_t>(begun_),
                      static_cast<off_t>(appended_ - begun_),
                      SYNC_FILE_RANGE_WRITE);
      begun_ = appended_;
    }
    return absl::OkStatus();
  }
  absl::Status Overwrite(uint64_t at, ByteSpan bytes) override {
    while (!bytes.empty()) {
      const ssize_t n =
          pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Failure(path_, "write", errno);
      bytes = bytes.subspan(static_cast<size_t>(n));
      at += static_cast<uint64_t>(n);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<size_t> ReadBack(uint64_t at,
                                  std::span<std::byte> out) const override {
    return ReadRetrying(path_, [&] {
      return pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(at));
    });
  }
  absl::Status Commit() override {
    if (fsync(fd_.get()) != 0) return SyncFailure(path_, errno);
    if (rename(temporary_.c_str(), path_.c_str()) != 0) {
      return Failure(path_, "rename into place", errno);
    }
    is_committed_ = true;
    return SyncDirectory(ParentOf(path_));
  }

 private:
  const std::string path_;
  const std::string temporary_;
  const Descriptor fd_;
  bool is_committed_ = false;
  uint64_t appended_ = 0;
  uint64_t begun_ = 0;  // bytes that the disk was told to write
};

class LockHold final : public FolderHold {
 public:
  explicit LockHold(std::unique_ptr<FolderLock> lock)
      : lock_(std::move(lock)) {}

 private:
  const std::unique_ptr<FolderLock> lock_;
};

}  // namespace

absl::Status PosixFiles::WriteDurably(const std::string& path,
                                      std::span<const ByteSpan> pieces) {
  const std::string temporary = TemporaryFor(path);
  absl::Status status = WriteAndSync(temporary, FileMode(access_), pieces);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = Failure(path, "rename into place", errno);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncDirectory(ParentOf(path));
}

absl::StatusOr<std::unique_ptr<ByteSource>> PosixFiles::Open(
    const std::string& path) const {
  if (path == kStandardInput) {
    Descriptor input(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    if (input.get() < 0) return Failure("standard input", "open", errno);
    // Somebody may have read a part of it.
    return std::make_unique<DescriptorSource>("standard input",
                                              std::move(input), false);
  }
  Descriptor fd(OpenRetrying(path, O_RDONLY));
  if (fd.get() < 0) return Failure(path, "open", errno);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return Failure(path, "stat", errno);
  if (S_ISDIR(info.st_mode)) return Failure(path, "read", EISDIR);
  return std::make_unique<DescriptorSource>(path, std::move(fd),
                                            S_ISREG(info.st_mode));
}

absl::StatusOr<std::unique_ptr<ByteSink>> PosixFiles::Create(
    const std::string& path) {
  std::string temporary = TemporaryFor(path);
  Descriptor fd(
      OpenRetrying(temporary, O_RDWR | O_CREAT | O_TRUNC, FileMode(access_)));
  if (fd.get() < 0) return Failure(path, "create", errno);
  return std::make_unique<TemporarySink>(path, std::move(temporary),
                                         std::move(fd));
}

absl::StatusOr<std::unique_ptr<FolderHold>> PosixFiles::Hold(
    const std::string& directory, const std::string& user) {
  SKERRY_ASSIGN_OR_RETURN(std::unique_ptr<FolderLock> lock,
                          FolderLock::Take(directory, user, kHoldFile));
  return std::make_unique<LockHold>(std::move(lock));
}

absl::Status PosixFiles::RemoveLeftovers(
    const std::string& directory,
    absl::FunctionRef<bool(std::string_view name)> is_ours) {
  SKERRY_ASSIGN_OR_RETURN(const Entries entries, ListEntries(directory));
  bool is_changed = false;
  for (const std::string& name : entries.leftovers) {
    const std::optional<std::string_view> file = FileOfTemporary(name);
    if (!file.has_value() || !is_ours(*file)) continue;
    const std::string path = absl::StrCat(directory, "/", name);
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      return Failure(path, "remove", errno);
    }
    is_changed = true;
  }
  return is_changed ? SyncDirectory(directory) : absl::OkStatus();
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
  const mode_t mode = access_ == Access::kOwner ? 0700 : 0777;
  if (mkdir(directory.c_str(), mode) != 0 && errno != EEXIST) {
    return Failure(directory, "make directory", errno);
  }
  return SyncDirectory(parent);
}

}  // namespace skerry::runtime
