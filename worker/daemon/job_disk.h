// worker/daemon/job_disk.h
//
// Stores one job's files in its folder on the worker's disk. It is the seat's
// DiskPort.
#ifndef SKERRY_WORKER_DAEMON_JOB_DISK_H_
#define SKERRY_WORKER_DAEMON_JOB_DISK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "runtime/posix/mapped_file.h"
#include "worker/core/effects.h"
#include "worker/daemon/ahead_file.h"
#include "worker/daemon/seat_answers.h"
#include "worker/shell/job_ports.h"

namespace skerry::worker {

// Members are called on the loop. Writes run on `executor`, which should have
// one thread, so that files reach the disk in the order of the calls.
class JobDisk final : public FolderPort {
 public:
  // `on_gone` runs when the folder was found removed and was made again. All
  // borrowed things outlive the object, `files` and `executor` also every task
  // that it has given to the executor.
  JobDisk(std::string directory, runtime::Files& files,
          runtime::Executor& executor, const SeatAnswers& answers,
          absl::AnyInvocable<void()> on_gone);
  ~JobDisk() override;

  // Leaves the logs of a program's ranks, rank-N.log, and inner states where
  // they are. Names the damaged files that it removes in the log. Files with
  // names of an older release get their new names.
  absl::StatusOr<std::vector<StoredFile>> Scan() override;

  void Store(const StoredFile& file, std::vector<SharedBytes> contents,
             Done<absl::Status> done) override;
  void StoreAhead(const StoredFile& file, size_t index,
                  const SharedBytes& content) override;
  absl::StatusOr<SharedBytes> Map(const StoredFile& file,
                                  uint32_t span) override;
  void Delete(const StoredFile& file) override;

 private:
  struct Ahead {
    std::string path;
    std::shared_ptr<AheadFile> file;
  };

  std::string PathOf(const StoredFile& file) const;
  // Returns what was written ahead of the file at `path`; null when nothing
  // was.
  std::shared_ptr<AheadFile> TakeAhead(uint32_t fragment,
                                       const std::string& path);
  // The folder had been removed; `made`: it is there again.
  void OnWritten(bool made);

  const std::string directory_;
  runtime::Files& files_;
  runtime::Executor& executor_;
  const SeatAnswers& answers_;
  absl::AnyInvocable<void()> on_gone_;
  // By path.
  absl::btree_map<std::string, std::shared_ptr<const runtime::MappedFile>>
      mapped_;
  absl::btree_map<uint32_t, Ahead> ahead_;  // by fragment
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_DISK_H_
