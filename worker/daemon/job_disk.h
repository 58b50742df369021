// worker/daemon/job_disk.h
//
// One job's folder on the worker's disk, as the seat's DiskPort.
#ifndef SKERRY_WORKER_DAEMON_JOB_DISK_H_
#define SKERRY_WORKER_DAEMON_JOB_DISK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "runtime/posix/mapped_file.h"
#include "worker/core/effects.h"

namespace skerry::worker {

// Members are called on `loop`. Writes run on `executor`, which should have one
// thread, so that files reach the disk in the order of the calls.
class JobDisk final : public DiskPort {
 public:
  // `files`, `loop` and `executor` outlive the object and every task it has
  // given to the executor.
  JobDisk(std::string directory, runtime::Files& files,
          runtime::EventLoop& loop, runtime::Executor& executor);
  ~JobDisk() override;

  // Makes the folder if needed and lists what it holds; files that are damaged
  // are removed, and named in the log: other workers have the same bytes.
  absl::StatusOr<std::vector<StoredFile>> Scan();

  void Store(const StoredFile& file, std::vector<SharedBytes> contents,
             Done<absl::Status> done) override;
  absl::StatusOr<SharedBytes> Map(const StoredFile& file,
                                  uint32_t span) override;
  void Delete(const StoredFile& file) override;

 private:
  std::string PathOf(const StoredFile& file) const;

  const std::string directory_;
  runtime::Files& files_;
  runtime::EventLoop& loop_;
  runtime::Executor& executor_;
  // By path.
  absl::btree_map<std::string, std::shared_ptr<const runtime::MappedFile>>
      mapped_;
  // Tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_DISK_H_
