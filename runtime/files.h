// runtime/files.h
//
// Small files that must survive a crash: stored results, bases, identities.
// Whole files only; a reader sees the old content or the new, never a mixture.
#ifndef SKERRY_RUNTIME_FILES_H_
#define SKERRY_RUNTIME_FILES_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::runtime {

using ByteSpan = std::span<const std::byte>;

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
