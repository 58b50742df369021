#include "trainer/service/posix_inner_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/errno_hint.h"

namespace skerry::trainer {
namespace {

// So much is written between two signs that the call goes on.
constexpr size_t kPieceBytes = size_t{64} << 20;

absl::Status Failure(const std::string& path, int error) {
  const std::string text = absl::StrCat(path, ": ", runtime::ErrnoText(error));
  if (error == ENOSPC || error == EDQUOT) {
    return absl::ResourceExhaustedError(text);
  }
  return absl::InvalidArgumentError(text);
}

}  // namespace

absl::Status PosixInnerFile::Write(
    std::span<const std::span<const std::byte>> pieces) {
  const int fd = open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC,
                      S_IRUSR | S_IWUSR);
  if (fd < 0) return Failure(path_, errno);
  int error = 0;
  for (std::span<const std::byte> piece : pieces) {
    while (error == 0 && !piece.empty()) {
      const ssize_t wrote =
          write(fd, piece.data(), std::min(piece.size(), kPieceBytes));
      if (wrote >= 0) piece = piece.subspan(static_cast<size_t>(wrote));
      if (wrote < 0 && errno != EINTR) error = errno;
      OnPiece();
    }
  }
  if (close(fd) != 0 && error == 0) error = errno;
  return error == 0 ? absl::OkStatus() : Failure(path_, error);
}

absl::StatusOr<std::span<const std::byte>> PosixInnerFile::Read() {
  auto mapped = runtime::MappedFile::Open(path_);
  if (!mapped.ok()) {
    return absl::InvalidArgumentError(mapped.status().message());
  }
  mapped_ = *std::move(mapped);
  return mapped_->bytes();
}

}  // namespace skerry::trainer
