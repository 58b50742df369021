// worker/daemon/folder_keeper.h
//
// Keeps the jobs' folders on a worker's disk as StateFolders decides: lists
// them from time to time, tells the coordinator of them, and removes those that
// may go.
#ifndef SKERRY_WORKER_DAEMON_FOLDER_KEEPER_H_
#define SKERRY_WORKER_DAEMON_FOLDER_KEEPER_H_

#include <functional>
#include <memory>
#include <string>

#include "protocol/job_orders.h"
#include "protocol/stored_jobs.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "worker/core/state_folders.h"

namespace skerry::worker {

// All of it outlives the keeper, `files` and `disk` also every task that it has
// given to `disk`.
struct FolderKeeperOptions {
  runtime::EventLoop& loop;
  // One thread, so that a removal comes after what was written before.
  runtime::Executor& disk;
  runtime::Files& files;
  std::string state_directory;
  EndedRetention retention;
  // The wall clock.
  std::function<int64_t()> unix_ms;
  // A job whose folder is about to be removed is served no longer.
  std::function<void(const StoredJobKey& folder)> stop_serving;
  // Stored() says something new.
  std::function<void()> status_changed;
};

// Members are called on the loop, and so are the handlers.
class FolderKeeper {
 public:
  explicit FolderKeeper(FolderKeeperOptions options);

  // Lists now and from then on.
  void Start();
  // Called after the jobs of these orders were taken up or given up.
  void OnOrders(const FolderOrders& orders);
  void OnSessionEnd() { folders_.OnSessionEnd(); }
  // Whether the job may be served; then its folder counts as there.
  bool Open(const protocol::JobOrders& orders);
  protocol::StoredJobs Stored() const;

 private:
  void List();
  // Does what the folders want to have done.
  void Act();

  const FolderKeeperOptions options_;
  StateFolders folders_;
  // Tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_FOLDER_KEEPER_H_
