// worker/core/patient_disk.h
//
// A disk that cannot store is asked again until it can: who waits for a file
// hears of it once it is durable, and never of an error. While that takes more
// than one try, error() says why; nothing new should then be begun.
//
// Every try writes the whole file anew, so nothing rests on pages whose sync
// has failed. What waits is kept in memory, in the buffers that it came in.
//
// A file that is deleted while it is being stored is not there in the end, and
// whoever stored it hears just that, whichever of the two the disk does first.
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
  // Those that a try of is under way, and those that wait for the next one.
  std::vector<std::shared_ptr<Write>> writing_;
  std::vector<std::shared_ptr<Write>> waiting_;
  size_t failed_ = 0;  // waiting, or under way again
  std::string error_;
  std::optional<Instant> next_try_;
  Scope scope_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PATIENT_DISK_H_
