// worker/daemon/data_fetches.h
//
// Brings data sets of object stores and of other workers into a worker's cache,
// several at a time,
// and keeps the cache within its limit. docs/worker.md describes the cache.
#ifndef SKERRY_WORKER_DAEMON_DATA_FETCHES_H_
#define SKERRY_WORKER_DAEMON_DATA_FETCHES_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "runtime/posix/mutex.h"
#include "worker/core/cached_sets.h"
#include "worker/daemon/data_set_copy.h"
#include "worker/daemon/data_source.h"

namespace skerry::worker {

// Below a worker's state folder.
inline constexpr char kDataCacheFolder[] = "/cache/data";
// Data sets of ten billion tokens of two bytes take as much.
inline constexpr uint64_t kDataCacheBytes = uint64_t{20} << 30;

// All borrowed things outlive every task that is given to `fetcher`, which runs
// the tasks that are left before it goes.
struct DataCacheOptions {
  runtime::Files& files;
  runtime::EventLoop& loop;
  // Files are fetched and checked there, one in each task.
  runtime::Executor& fetcher;
  // STATE/cache/data; made when a data set is fetched. A set is a folder in it,
  // named by the SHA-256 of its manifest.
  std::string folder;
  uint64_t bytes_max;
};

// One use of a data set by one job, from the moment it is asked for.
struct DataRequest {
  // Where the set is fetched from, and the SHA-256 of its manifest.
  std::shared_ptr<DataSource> source;
  std::string set;
  // Runs on the loop, unless the request was dropped before.
  absl::AnyInvocable<void(absl::Status) &&> done;
  // Nobody wants the set any more.
  std::atomic<bool> dropped = false;

  // The rest belongs to DataFetches.
  std::unique_ptr<DataSetCopy> copy;
  std::deque<DataSetCopy::File> left;
  int running = 0;  // tasks that bring files
  absl::Status status;
  bool holds = false;  // the set counts as in use
  bool ended = false;
};

// All members may block, and are called by tasks of `fetcher` unless they say
// otherwise. Outlives these tasks.
class DataFetches {
 public:
  explicit DataFetches(const DataCacheOptions& options);

  // Learns what the disk has. Removes what a former process was fetching when
  // it died, and what is above the limit.
  void Look();
  // Has all files of the set on the disk and compares each with its hash, once
  // in the life of the process. Requests for one set follow each other.
  void Begin(const std::shared_ptr<DataRequest>& request);
  // Ends the use of a request that was dropped.
  void Release(const std::shared_ptr<DataRequest>& request);

  // Any thread.
  std::string FolderOf(const std::string& set) const;
  uint64_t bytes() const { return bytes_; }
  uint64_t fetched_bytes() const { return fetched_bytes_; }
  uint64_t removed_bytes() const { return removed_bytes_; }

 private:
  struct Removal {
    CachedSets::File file;
    absl::Status status;
  };
  using Request = std::shared_ptr<DataRequest>;

  void Open(const Request& request);
  absl::Status OpenCopy(DataRequest& request);
  // Takes the set into use, and makes room.
  absl::Status TakeSet(DataRequest& request);
  void BringNext(const Request& request);
  absl::Status Bring(DataRequest& request, const DataSetCopy::File& file);
  // Whether the disk has the file as the manifest wants it.
  bool IsHere(DataRequest& request, const DataSetCopy::File& file);
  void End(const Request& request, const absl::Status& status);
  // Callers log what these return when they have let go of the mutex.
  absl::Status LookLocked(std::vector<Removal>& removals)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveLocked(const std::vector<CachedSets::File>& files,
                    std::vector<Removal>& removals)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DataCacheOptions options_;
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<uint64_t> fetched_bytes_ = 0;
  std::atomic<uint64_t> removed_bytes_ = 0;
  runtime::Mutex mutex_;  // also left .. ended of requests
  bool has_looked_ ABSL_GUARDED_BY(mutex_) = false;
  CachedSets sets_ ABSL_GUARDED_BY(mutex_);
  // SET/FILE of what this process has compared with its hash.
  absl::btree_set<std::string> checked_ ABSL_GUARDED_BY(mutex_);
  // Requests for a set, of which the first is at work.
  absl::btree_map<std::string, std::deque<Request>> lines_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_DATA_FETCHES_H_
