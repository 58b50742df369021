#include "trainer/attach/service/rank_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace skerry::trainer::attach {
namespace {

int OpenToAppend(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RankLog>> RankLog::Open(
    const std::string& directory, int rank) {
  std::string path = absl::StrCat(directory, "/rank-", rank, ".log");
  const int fd = OpenToAppend(path);
  if (fd < 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot write ", path,
                            "; the folder of --log-directory has to exist and "
                            "to be writable"));
  }
  struct stat status;
  const size_t bytes =
      fstat(fd, &status) == 0 ? static_cast<size_t>(status.st_size) : 0;
  return std::unique_ptr<RankLog>(new RankLog(std::move(path), fd, bytes));
}

RankLog::RankLog(std::string path, int fd, size_t bytes)
    : path_(std::move(path)),
      fd_(fd),
      bytes_(bytes),
      splitter_(kPrintedLineBytesMax) {}

RankLog::~RankLog() {
  if (fd_ >= 0) close(fd_);
}

void RankLog::Write(std::string_view bytes) {
  splitter_.Add(bytes);
  while (const auto line = splitter_.Next()) WriteLine(*line);
  if (!splitter_.IsTooLong()) return;
  WriteLine(splitter_.Rest());
  splitter_.Clear();
}

void RankLog::End() {
  if (!splitter_.Rest().empty()) WriteLine(splitter_.Rest());
  splitter_.Clear();
}

void RankLog::WriteLine(std::string_view line) {
  tail_.emplace_back(line);
  if (tail_.size() > kTailLines) tail_.pop_front();
  if (bytes_ > 0 && bytes_ + line.size() + 1 > kRankLogBytesMax) {
    if (fd_ >= 0) close(fd_);
    rename(path_.c_str(), absl::StrCat(path_, ".1").c_str());
    fd_ = OpenToAppend(path_);
    bytes_ = 0;
  }
  const std::string text =
      absl::StrCat(absl::string_view(line.data(), line.size()), "\n");
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    written += static_cast<size_t>(n);
    bytes_ += static_cast<size_t>(n);
  }
}

std::string RankLog::LastLine() const {
  const auto found =
      std::find_if(tail_.rbegin(), tail_.rend(), [](const std::string& line) {
        return !absl::StripAsciiWhitespace(line).empty();
      });
  return found == tail_.rend() ? "" : *found;
}

}  // namespace skerry::trainer::attach
