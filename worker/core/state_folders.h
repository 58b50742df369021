// worker/core/state_folders.h
//
// Decides which jobs' folders a worker removes from its disk.
//
// A folder is removed for one of three reasons. An operator has deleted the
// job. An operator has this worker's folder removed. Or the job has ended, and
// its folder is older than the worker keeps folders of ended jobs, or all of
// these folders together are larger than it keeps.
//
// The coordinator must have named the reason in the present session. It says
// nothing about jobs that it does not know. So nothing is removed because of a
// coordinator that lost its journal, was restored from an older copy, or is of
// another cluster.
#ifndef SKERRY_WORKER_CORE_STATE_FOLDERS_H_
#define SKERRY_WORKER_CORE_STATE_FOLDERS_H_

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "protocol/orders.h"
#include "protocol/stored_jobs.h"

namespace skerry::worker {

using protocol::StoredJob;
using protocol::StoredJobKey;

// What a worker keeps of jobs that have ended.
struct EndedRetention {
  absl::Duration age = absl::Hours(7 * 24);
  uint64_t bytes = uint64_t{64} << 30;
};

// What one set of orders says about folders.
struct FolderOrders {
  // Folders of jobs that the orders name and that have not ended.
  std::vector<StoredJobKey> live;
  std::vector<StoredJobKey> ended;
  // Folders to be removed now.
  std::vector<StoredJobKey> removed;
};

FolderOrders FoldersIn(const protocol::Orders& orders);

class StateFolders {
 public:
  explicit StateFolders(EndedRetention retention) : retention_(retention) {}

  // --- Facts. ---

  // Everything that the disk has.
  void OnListed(const std::vector<StoredJob>& all);
  // A job is served from its folder, which may be new.
  void OnOpened(const StoredJobKey& folder);
  void OnOrders(const FolderOrders& orders, int64_t now_unix_ms);
  // What the coordinator has said counts until the session ends.
  void OnSessionEnd();
  // The removal that TakeRemovable() asked for is over; `gone`: it worked.
  void OnRemoved(const StoredJobKey& folder, bool gone);

  // --- What follows from them. ---

  // Returns whether a job that orders name may be served from that folder. It
  // may not while the folder is being removed. If the job has ended, it may
  // only if there is a folder, because files that this worker has removed are
  // not fetched again.
  bool MayOpen(const StoredJobKey& folder, bool ended) const;
  // Folders to be removed now; each is named once, until OnRemoved().
  std::vector<StoredJobKey> TakeRemovable(int64_t now_unix_ms);
  // Folders whose `ended_unix_ms` has changed since the last call: it has to be
  // known after a restart too.
  std::vector<StoredJob> TakeMarks();
  // What Status says.
  std::vector<StoredJob> Report() const;

 private:
  enum class Word { kNone, kEnded, kRemove };
  struct Folder {
    uint64_t bytes = 0;
    int64_t ended_unix_ms = 0;
    Word word = Word::kNone;
    bool marked = true;  // the disk knows ended_unix_ms
    bool removing = false;
  };

  void SetEnded(Folder& folder, int64_t unix_ms);

  EndedRetention retention_;
  absl::btree_map<StoredJobKey, Folder> folders_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_STATE_FOLDERS_H_
