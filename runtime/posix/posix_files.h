// runtime/posix/posix_files.h
//
// Reads and writes files on a local disk.
#ifndef SKERRY_RUNTIME_POSIX_POSIX_FILES_H_
#define SKERRY_RUNTIME_POSIX_POSIX_FILES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files.h"

namespace skerry::runtime {

// A write goes through `path` + ".<number>.tmp" in the same directory; such
// names are not listed, and Remove() is the way to be rid of old ones. Two
// writers of one path must not run at the same time.
class PosixFiles final : public Files {
 public:
  // Who may read written files: only their owner, as for the state of a daemon,
  // or everyone whom the umask allows, as for files that a user makes.
  enum class Access { kOwner, kUmask };
  explicit PosixFiles(Access access = Access::kOwner) : access_(access) {}

  using Files::WriteDurably;
  absl::Status WriteDurably(const std::string& path,
                            std::span<const ByteSpan> pieces) override;
  absl::StatusOr<std::vector<std::byte>> Read(
      const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<ByteSink>> Create(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<FolderHold>> Hold(
      const std::string& directory, const std::string& user) override;
  absl::Status RemoveLeftovers(
      const std::string& directory,
      absl::FunctionRef<bool(std::string_view name)> is_ours) override;
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& directory) const override;
  absl::StatusOr<std::vector<std::string>> ListDirectories(
      const std::string& directory) const override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status RemoveDirectory(const std::string& directory) override;
  absl::Status MakeDirectory(const std::string& directory) override;

 private:
  const Access access_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_POSIX_FILES_H_
