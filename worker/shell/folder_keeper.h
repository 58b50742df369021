// worker/shell/folder_keeper.h
//
// Keeps the jobs' folders on a worker's disk as StateFolders decides: lists
// them from time to time, tells the coordinator of them, and removes those that
// may go.
#ifndef SKERRY_WORKER_SHELL_FOLDER_KEEPER_H_
#define SKERRY_WORKER_SHELL_FOLDER_KEEPER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/job_orders.h"
#include "protocol/stored_jobs.h"
#include "runtime/event_loop.h"
#include "worker/core/state_folders.h"

namespace skerry::worker {

// The disk that the jobs' folders are on. It does one thing after the other, so
// a removal comes after what was written before. Answers come on the loop,
// after the call has returned.
class FoldersPort {
 public:
  using Listed =
      absl::AnyInvocable<void(absl::StatusOr<std::vector<StoredJob>>) &&>;
  using Removed = absl::AnyInvocable<void(absl::Status) &&>;

  virtual ~FoldersPort() = default;
  virtual void List(Listed done) = 0;
  // Makes it known after a restart too when the job has ended, or, with 0, that
  // it has not.
  virtual void MarkEnded(const StoredJobKey& folder, int64_t unix_ms) = 0;
  virtual void Remove(const StoredJobKey& folder, Removed done) = 0;
};

// `loop` and `disk` outlive the keeper.
struct FolderKeeperOptions {
  runtime::EventLoop& loop;
  FoldersPort& disk;
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
  void OnListed(const absl::StatusOr<std::vector<StoredJob>>& all);
  // Does what the folders want to have done.
  void Act();

  const FolderKeeperOptions options_;
  StateFolders folders_;
  // Answers and timers that come after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_FOLDER_KEEPER_H_
