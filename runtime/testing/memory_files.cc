#include "runtime/testing/memory_files.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::runtime {
namespace {

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::vector<std::byte> Join(std::span<const ByteSpan> pieces) {
  std::vector<std::byte> all;
  for (const ByteSpan piece : pieces) {
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

absl::Status NoPower(const std::string& path) {
  return absl::DataLossError(absl::StrCat(path, ": the disk has lost power"));
}

absl::Status Missing(const std::string& path) {
  return absl::NotFoundError(absl::StrCat(path, ": no such file or directory"));
}

// Reads what another source reads, and once.
class PipeSource final : public ByteSource {
 public:
  explicit PipeSource(std::vector<std::byte> bytes)
      : bytes_(std::move(bytes)) {}
  absl::StatusOr<size_t> Read(std::span<std::byte> out) override {
    // As a pipe does, it gives less than was asked for.
    const size_t count = std::min({out.size(), bytes_.size() - at_, size_t{7}});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count,
                out.begin());
    at_ += count;
    return count;
  }
  bool can_repeat() const override { return false; }

 private:
  const std::vector<std::byte> bytes_;
  size_t at_ = 0;
};

class OnDestruction final : public FolderHold {
 public:
  explicit OnDestruction(std::function<void()> then) : then_(std::move(then)) {}
  ~OnDestruction() override { then_(); }

 private:
  const std::function<void()> then_;
};

}  // namespace

// What stops a change before it changes anything; counts it. The caller holds
// mutex_.
absl::Status MemoryFiles::AdmitChange(const std::string& path) {
  if (!powered_) return NoPower(path);
  if (!error_.ok()) {
    if (changes_before_error_ == 0) return Annotate(error_, path);
    --changes_before_error_;
  }
  ++changes_;
  return absl::OkStatus();
}

uint64_t MemoryFiles::StoredBytes() const {
  uint64_t sum = 0;
  for (const auto& [path, bytes] : files_) sum += bytes.size();
  return sum;
}

absl::Status MemoryFiles::WriteDurably(const std::string& path,
                                       std::span<const ByteSpan> pieces) {
  std::vector<std::byte> bytes = Join(pieces);
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string parent = ParentOf(path);
  if (!parent.empty() && !directories_.contains(parent)) return Missing(path);
  // As on a real disk, the old content stays until the new is complete.
  if (StoredBytes() + bytes.size() > bytes_max_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": no space left on device"));
  }
  SKERRY_RETURN_IF_ERROR(AdmitChange(path));
  if (!power_fails_next_ || keeps_new_) files_[path] = std::move(bytes);
  if (!power_fails_next_) return absl::OkStatus();
  powered_ = false;
  return NoPower(path);
}

absl::StatusOr<std::vector<std::byte>> MemoryFiles::Read(
    const std::string& path) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!powered_) return NoPower(path);
  const auto it = files_.find(path);
  if (it == files_.end()) return Missing(path);
  return it->second;
}

absl::StatusOr<std::unique_ptr<ByteSource>> MemoryFiles::Open(
    const std::string& path) const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto pipe = pipes_.find(path);
    if (pipe != pipes_.end()) {
      return std::make_unique<PipeSource>(std::exchange(pipe->second, {}));
    }
  }
  return Files::Open(path);
}

absl::StatusOr<std::unique_ptr<FolderHold>> MemoryFiles::Hold(
    const std::string& directory, const std::string& user) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!held_.insert(directory).second) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, " is in use by another ", user,
                     "; stop it or name another folder"));
  }
  return std::make_unique<OnDestruction>([this, directory] {
    std::lock_guard<std::mutex> lock(mutex_);
    held_.erase(directory);
  });
}

absl::StatusOr<std::vector<std::string>> MemoryFiles::List(
    const std::string& directory) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!powered_) return NoPower(directory);
  if (!directories_.contains(directory)) return Missing(directory);
  std::vector<std::string> names;
  for (const auto& [path, bytes] : files_) {
    if (ParentOf(path) == directory) {
      names.push_back(path.substr(directory.size() + 1));
    }
  }
  return names;
}

absl::StatusOr<std::vector<std::string>> MemoryFiles::ListDirectories(
    const std::string& directory) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!powered_) return NoPower(directory);
  if (!directories_.contains(directory)) return Missing(directory);
  std::vector<std::string> names;
  for (const std::string& path : directories_) {
    if (ParentOf(path) == directory && path != directory) {
      names.push_back(path.substr(directory.size() + 1));
    }
  }
  return names;
}

absl::Status MemoryFiles::RemoveDirectory(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (powered_ && !directories_.contains(directory)) return absl::OkStatus();
  const auto inside = [&directory](const std::string& path) {
    return path.starts_with(directory + "/");
  };
  const auto file = files_.lower_bound(directory + "/");
  const auto below = directories_.lower_bound(directory + "/");
  if (powered_ && ((file != files_.end() && inside(file->first)) ||
                   (below != directories_.end() && inside(*below)))) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": cannot remove: is not empty"));
  }
  SKERRY_RETURN_IF_ERROR(AdmitChange(directory));
  if (!power_fails_next_ || keeps_new_) directories_.erase(directory);
  if (!power_fails_next_) return absl::OkStatus();
  powered_ = false;
  return NoPower(directory);
}

absl::Status MemoryFiles::Rename(const std::string& from,
                                 const std::string& to) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (powered_ && !files_.contains(from)) return Missing(from);
  SKERRY_RETURN_IF_ERROR(AdmitChange(from));
  if (!power_fails_next_ || keeps_new_) {
    auto file = files_.extract(from);
    files_[to] = std::move(file.mapped());
  }
  if (!power_fails_next_) return absl::OkStatus();
  powered_ = false;
  return NoPower(from);
}

absl::Status MemoryFiles::Remove(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (powered_ && !files_.contains(path)) return absl::OkStatus();
  SKERRY_RETURN_IF_ERROR(AdmitChange(path));
  if (!power_fails_next_ || keeps_new_) files_.erase(path);
  if (!power_fails_next_) return absl::OkStatus();
  powered_ = false;
  return NoPower(path);
}

absl::Status MemoryFiles::MakeDirectory(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (powered_ && directories_.contains(directory)) return absl::OkStatus();
  SKERRY_RETURN_IF_ERROR(AdmitChange(directory));
  for (std::string path = directory; !path.empty(); path = ParentOf(path)) {
    directories_.insert(path);
  }
  return absl::OkStatus();
}

void MemoryFiles::LosePowerInNextChange(bool keeps_new) {
  std::lock_guard<std::mutex> lock(mutex_);
  power_fails_next_ = true;
  keeps_new_ = keeps_new;
}

void MemoryFiles::PowerOn() {
  std::lock_guard<std::mutex> lock(mutex_);
  powered_ = true;
  power_fails_next_ = false;
}

void MemoryFiles::FailChangesAfter(uint64_t changes, absl::Status error) {
  std::lock_guard<std::mutex> lock(mutex_);
  changes_before_error_ = changes;
  error_ = std::move(error);
}

void MemoryFiles::LimitBytes(uint64_t bytes_max) {
  std::lock_guard<std::mutex> lock(mutex_);
  bytes_max_ = bytes_max;
}

void MemoryFiles::MakePipe(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto file = files_.extract(path);
  if (!file.empty()) pipes_[path] = std::move(file.mapped());
}

absl::Status MemoryFiles::FlipBit(const std::string& path, size_t bit) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = files_.find(path);
  if (it == files_.end()) return Missing(path);
  if (bit / 8 >= it->second.size()) {
    return absl::OutOfRangeError(absl::StrCat(path, ": no bit ", bit));
  }
  it->second[bit / 8] ^= std::byte{1} << (bit % 8);
  return absl::OkStatus();
}

uint64_t MemoryFiles::changes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return changes_;
}

uint64_t MemoryFiles::stored_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return StoredBytes();
}

}  // namespace skerry::runtime
