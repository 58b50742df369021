// worker/core/patient_disk.h
//
// Stores files on a disk that may fail, and tries again until it succeeds. A
// caller hears when its file is durable, and never hears an error. While a file
// takes more than one try, error() says why, and the seat should begin nothing
// new.
//
// Every try writes the whole file anew, so nothing rests on pages whose sync
// has failed. Files that wait stay in memory, in the buffers that they came in.
//
// If a file is deleted while it is being stored, it is not there in the end.
// Its caller hears that, whichever of the two the disk does first.
#ifndef SKERRY_WORKER_CORE_PATIENT_DISK_H_
#define SKERRY_WORKER_CORE_PATIENT_DISK_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "worker/core/effects.h"
#include "worker/core/scope.h"

namespace skerry::worker {

class PatientDisk final : public DiskPort {
 public:
  // Runs when error() has become empty, or is no longer.
  using Changed = absl::AnyInvocable<void(Instant now)>;
  // `disk` outlives this.
  PatientDisk(DiskPort& disk, absl::Duration retry_interval, Changed changed);

  // `done` is OK, or Aborted when the file was deleted meanwhile.
  void Store(const StoredFile& file, std::vector<SharedBytes> contents,
             Done<absl::Status> done) override;
  void StoreAhead(const StoredFile& file, size_t index,
                  const SharedBytes& content) override {
    disk_.StoreAhead(file, index, content);
  }
  absl::StatusOr<SharedBytes> Map(const StoredFile& file,
                                  uint32_t span) override {
    return disk_.Map(file, span);
  }
  void Delete(const StoredFile& file) override;

  // What the disk said last, while a file has not been stored at the first try;
  // else empty.
  const std::string& error() const { return error_; }
  std::optional<Instant> NextDeadline() const { return next_try_; }
  void OnTime(Instant now);

 private:
  struct Write {
    StoredFile file;
    std::vector<SharedBytes> contents;
    Done<absl::Status> done;
    bool has_failed = false;
    bool deleted = false;
  };
  void Try(std::shared_ptr<Write> write);
  void OnTried(Instant now, std::shared_ptr<Write> write,
               const absl::Status& status);

  DiskPort& disk_;
  const absl::Duration retry_interval_;
  Changed changed_;
  // Files that are being written, and files that wait for the next try.
  std::vector<std::shared_ptr<Write>> writing_;
  std::vector<std::shared_ptr<Write>> waiting_;
  size_t failed_ = 0;  // waiting, or under way again
  std::string error_;
  std::optional<Instant> next_try_;
  Scope scope_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PATIENT_DISK_H_
