// runtime/testing/memory_files.h
//
// Keeps a disk in memory that can lose power, fill up or fail.
#ifndef SKERRY_RUNTIME_TESTING_MEMORY_FILES_H_
#define SKERRY_RUNTIME_TESTING_MEMORY_FILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "runtime/files.h"

namespace skerry::runtime {

class MemoryFiles final : public Files {
 public:
  using Files::WriteDurably;
  absl::Status WriteDurably(const std::string& path,
                            std::span<const ByteSpan> pieces) override;
  absl::StatusOr<std::vector<std::byte>> Read(
      const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path) const override;
  // Holds the folder until the result is destroyed. The result must not outlive
  // this object.
  absl::StatusOr<std::unique_ptr<FolderHold>> Hold(
      const std::string& directory, const std::string& user) override;
  // There are none: a write that stops half-way leaves nothing.
  absl::Status RemoveLeftovers(
      const std::string& directory,
      absl::FunctionRef<bool(std::string_view name)> is_ours) override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& directory) const override;
  absl::StatusOr<std::vector<std::string>> ListDirectories(
      const std::string& directory) const override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status RemoveDirectory(const std::string& directory) override;
  absl::Status MakeDirectory(const std::string& directory) override;

  // The next write or removal stops half-way, as when power fails in it: it
  // returns DataLoss and everything fails until PowerOn(). The file then holds
  // the old content or the new, by `keeps_new`.
  void LosePowerInNextChange(bool keeps_new);
  void PowerOn();
  // Every change after the next `changes` fails with `error` and changes
  // nothing, until called again with OK.
  void FailChangesAfter(uint64_t changes, absl::Status error);
  // Writes that would take the sum of all files above this are refused.
  void LimitBytes(uint64_t bytes_max);
  // Makes a pipe of a file: it is read once, by Open.
  void MakePipe(const std::string& path);
  // Flips one bit of a stored file; a rotting disk.
  absl::Status FlipBit(const std::string& path, size_t bit);

  uint64_t changes() const;
  uint64_t stored_bytes() const;

 private:
  absl::Status AdmitChange(const std::string& path);
  uint64_t StoredBytes() const;

  mutable std::mutex mutex_;
  // All below are guarded by mutex_.
  absl::btree_map<std::string, std::vector<std::byte>> files_;
  absl::btree_set<std::string> directories_;
  absl::btree_set<std::string> held_;
  // Its content is gone once it was opened.
  mutable absl::btree_map<std::string, std::vector<std::byte>> pipes_;
  bool powered_ = true;
  bool power_fails_next_ = false;
  bool keeps_new_ = false;
  uint64_t bytes_max_ = UINT64_MAX;
  uint64_t changes_ = 0;
  uint64_t changes_before_error_ = 0;
  absl::Status error_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_TESTING_MEMORY_FILES_H_
