// worker/daemon/job_folder_disk.h
//
// Lists, marks and removes the jobs' folders on the thread of the disk.
#ifndef SKERRY_WORKER_DAEMON_JOB_FOLDER_DISK_H_
#define SKERRY_WORKER_DAEMON_JOB_FOLDER_DISK_H_

#include <cstdint>
#include <string>
#include <utility>

#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "worker/shell/folder_keeper.h"

namespace skerry::worker {

class JobFolderDisk final : public FoldersPort {
 public:
  // All of them outlive the tasks that it has given to `disk`, which has one
  // thread. `state` is the worker's state folder.
  JobFolderDisk(runtime::EventLoop& loop, runtime::Executor& disk,
                runtime::Files& files, std::string state)
      : loop_(loop), disk_(disk), files_(files), state_(std::move(state)) {}

  void List(Listed done) override;
  void MarkEnded(const StoredJobKey& folder, int64_t unix_ms) override;
  void Remove(const StoredJobKey& folder, Removed done) override;

 private:
  runtime::EventLoop& loop_;
  runtime::Executor& disk_;
  runtime::Files& files_;
  const std::string state_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_FOLDER_DISK_H_
