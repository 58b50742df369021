// runtime/posix/folder_lock.h
//
// Makes sure that only one process uses a state folder.
#ifndef SKERRY_RUNTIME_POSIX_FOLDER_LOCK_H_
#define SKERRY_RUNTIME_POSIX_FOLDER_LOCK_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::runtime {

// Held until destroyed; the kernel lets go of it when the process dies, however
// it dies. A file in the folder holds the process id of the last holder.
class FolderLock {
 public:
  // The file of a state folder.
  static constexpr char kFile[] = "lock";

  // `user` is what takes it ("coordinator"), for the message to another one.
  // Codes: FailedPrecondition, another process holds it (the message says
  // which), or the disk is read-only; NotFound or PermissionDenied, the folder
  // cannot be used.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(
      const std::string& folder, const std::string& user,
      const std::string& file = kFile);
  // Keeps others from taking it, together with any number of readers; writes
  // nothing. Null when the folder has no lock file: nobody ever served from it.
  // Codes: FailedPrecondition, a process holds it; PermissionDenied.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Share(
      const std::string& folder, const std::string& user);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // OK while the folder still has the file that is locked. Aborted when it was
  // removed or replaced: another process may then hold a lock of the same name.
  absl::Status StillHeld() const;

 private:
  FolderLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  const std::string path_;
  const int fd_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_FOLDER_LOCK_H_
