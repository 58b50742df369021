#include "transport/grpc/live_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace skerry::transport {
namespace {

absl::Status NoFile() {
  return absl::ResourceExhaustedError(
      absl::StrCat("no file in memory for the certificates: errno ", errno));
}

// A descriptor of a file in memory, or -1 with errno.
int FileOf(std::string_view text, int64_t modified_s) {
  const int file = memfd_create("identity", MFD_CLOEXEC);
  if (file < 0) return file;
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count =
        write(file, text.data() + written, text.size() - written);
    if (count <= 0) break;
    written += static_cast<size_t>(count);
  }
  const timespec times[2] = {{modified_s, 0}, {modified_s, 0}};
  if (written == text.size() && futimens(file, times) == 0) return file;
  const int error = errno;
  close(file);
  errno = error;
  return -1;
}

std::string PathOf(int file) { return absl::StrCat("/proc/self/fd/", file); }

// Makes `target` the file that `source` is.
bool Become(int* target, int source) {
  if (*target >= 0) return dup3(source, *target, O_CLOEXEC) >= 0;
  *target = fcntl(source, F_DUPFD_CLOEXEC, 0);
  return *target >= 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LiveFiles>> LiveFiles::Make(
    std::string_view ca, std::string_view chain, std::string_view key) {
  std::unique_ptr<LiveFiles> files(new LiveFiles());
  const absl::Status made = files->Replace(ca, chain, key);
  if (!made.ok()) return made;
  return files;
}

LiveFiles::~LiveFiles() {
  if (pair_ >= 0) close(pair_);
  if (ca_ >= 0) close(ca_);
}

absl::Status LiveFiles::Replace(std::string_view ca, std::string_view chain,
                                std::string_view key) {
  ++modified_s_;
  std::string pair_text(key);
  pair_text.append("\n").append(chain);
  const int pair = FileOf(pair_text, modified_s_);
  explicit_bzero(pair_text.data(), pair_text.size());
  if (pair < 0) return NoFile();
  const absl::Cleanup close_pair = [pair] { close(pair); };
  const int authorities = FileOf(ca, modified_s_);
  if (authorities < 0) return NoFile();
  const absl::Cleanup close_authorities = [authorities] { close(authorities); };
  if (!Become(&ca_, authorities) || !Become(&pair_, pair)) return NoFile();
  return absl::OkStatus();
}

std::string LiveFiles::pair_path() const { return PathOf(pair_); }

std::string LiveFiles::ca_path() const { return PathOf(ca_); }

}  // namespace skerry::transport
