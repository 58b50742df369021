// runtime/files.h
//
// Defines access to files that must survive a crash: stored results, bases,
// identities, data sets. They are written whole: a reader sees the old content
// or the new one, never a mixture.
#ifndef SKERRY_RUNTIME_FILES_H_
#define SKERRY_RUNTIME_FILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::runtime {

using ByteSpan = std::span<const std::byte>;

// The bytes of a file or pipe from its beginning on.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the beginning of `out` and returns how much; 0 only at the end.
  // Requires: `out` is not empty.
  virtual absl::StatusOr<size_t> Read(std::span<std::byte> out) = 0;
  // Whether opening the path again gives the same bytes again. A pipe gives
  // them once.
  virtual bool can_repeat() const { return true; }
};

// A file on its way to its name. Destroying it without Commit leaves nothing.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual absl::Status Append(ByteSpan bytes) = 0;
  // Replaces bytes that were appended. Requires: they were.
  virtual absl::Status Overwrite(uint64_t at, ByteSpan bytes) = 0;
  // Fills the beginning of `out` with what was appended from `at` on, and
  // returns how much; 0 only behind the last byte.
  virtual absl::StatusOr<size_t> ReadBack(uint64_t at,
                                          std::span<std::byte> out) const = 0;
  // Gives the file its name as WriteDurably does. Nothing may follow.
  virtual absl::Status Commit() = 0;
};

// Keeps every other process out of a folder until it is destroyed, or until the
// process dies.
class FolderHold {
 public:
  virtual ~FolderHold() = default;
};

// Every call may block; any thread may call. Every error names the path and the
// cause. Codes: NotFound (no such file or directory), PermissionDenied,
// ResourceExhausted (disk full or over quota; nothing was changed), DataLoss
// (the disk failed to sync: what it holds is unknown and the caller must not
// build on it), Internal (any other failure of the disk).
class Files {
 public:
  virtual ~Files() = default;

  // Replaces `path` with the pieces one after the other. On OK the content and
  // the name are on disk: temporary file, sync, rename, sync of the directory.
  virtual absl::Status WriteDurably(const std::string& path,
                                    std::span<const ByteSpan> pieces) = 0;
  virtual absl::StatusOr<std::vector<std::byte>> Read(
      const std::string& path) const = 0;
  // For files of any size. `-` is standard input.
  virtual absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path) const;
  // Begins to write a file of any size.
  virtual absl::StatusOr<std::unique_ptr<ByteSink>> Create(
      const std::string& path);
  // Takes the folder for `user`, which is what a message to others calls this
  // process. Errors also: FailedPrecondition, another one holds it.
  virtual absl::StatusOr<std::unique_ptr<FolderHold>> Hold(
      const std::string& directory, const std::string& user) = 0;
  // Removes the leftovers of interrupted writes of those files in the directory
  // whose names `is_ours` knows.
  virtual absl::Status RemoveLeftovers(
      const std::string& directory,
      absl::FunctionRef<bool(std::string_view name)> is_ours) = 0;
  // Names, without the directory, of the regular files in it; sorted. Leftovers
  // of interrupted writes are not listed.
  virtual absl::StatusOr<std::vector<std::string>> List(
      const std::string& directory) const = 0;
  // Names of the directories in it; sorted.
  virtual absl::StatusOr<std::vector<std::string>> ListDirectories(
      const std::string& directory) const = 0;
  // Gives a file another name in its directory, and replaces what had it.
  // Durable when it returns; until then the file has one name or the other.
  virtual absl::Status Rename(const std::string& from,
                              const std::string& to) = 0;
  // Durable when it returns. OK when there was nothing to remove.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Removes a directory and the leftovers of interrupted writes in it, durably.
  // OK when there was none. Errors: FailedPrecondition, and nothing was
  // removed, when it holds anything else.
  virtual absl::Status RemoveDirectory(const std::string& directory) = 0;
  // Makes the directory and its parents, durably. OK when they are there.
  virtual absl::Status MakeDirectory(const std::string& directory) = 0;

  absl::Status WriteDurably(const std::string& path, ByteSpan bytes) {
    return WriteDurably(path, std::span<const ByteSpan>(&bytes, 1));
  }
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_FILES_H_
