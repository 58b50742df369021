#include "runtime/files.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace skerry::runtime {
namespace {

// The bytes of a file that was read whole.
class WholeSource final : public ByteSource {
 public:
  explicit WholeSource(std::vector<std::byte> bytes)
      : bytes_(std::move(bytes)) {}

  absl::StatusOr<size_t> Read(std::span<std::byte> out) override {
    const size_t count = std::min(out.size(), bytes_.size() - at_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count,
                out.begin());
    at_ += count;
    return count;
  }

 private:
  const std::vector<std::byte> bytes_;
  size_t at_ = 0;
};

// Keeps everything until it is written at once.
class WholeSink final : public ByteSink {
 public:
  WholeSink(std::string path, Files& files)
      : path_(std::move(path)), files_(files) {}

  absl::Status Append(ByteSpan bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return absl::OkStatus();
  }
  absl::Status Overwrite(uint64_t at, ByteSpan bytes) override {
    SKERRY_CHECK(at <= bytes_.size() && bytes.size() <= bytes_.size() - at);
    std::copy(bytes.begin(), bytes.end(),
              bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    return absl::OkStatus();
  }
  absl::StatusOr<size_t> ReadBack(uint64_t at,
                                  std::span<std::byte> out) const override {
    if (at >= bytes_.size()) return size_t{0};
    const size_t count = std::min<size_t>(out.size(), bytes_.size() - at);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), count,
                out.begin());
    return count;
  }
  absl::Status Commit() override { return files_.WriteDurably(path_, bytes_); }

 private:
  const std::string path_;
  Files& files_;
  std::vector<std::byte> bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> Files::Open(
    const std::string& path) const {
  SKERRY_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, Read(path));
  return std::make_unique<WholeSource>(std::move(bytes));
}

absl::StatusOr<std::unique_ptr<ByteSink>> Files::Create(
    const std::string& path) {
  return std::make_unique<WholeSink>(path, *this);
}

}  // namespace skerry::runtime
