// worker/daemon/job_data.h
//
// Makes one job's data set available on this worker. A set in a folder is taken
// to be there. A set in an object store is brought into the cache before a
// trainer starts; if that fails, it is tried again until it succeeds.
#ifndef SKERRY_WORKER_DAEMON_JOB_DATA_H_
#define SKERRY_WORKER_DAEMON_JOB_DATA_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "job/job_spec.h"
#include "runtime/event_loop.h"
#include "worker/daemon/data_cache.h"

namespace skerry::worker {

// Members are called on the loop, and so is the handler.
class JobData {
 public:
  // `changed` runs when the data are there, with OK, or when they could not be
  // brought here. `cache` and `loop` outlive this object.
  JobData(JobId job, const job::JobSpec& spec, DataCache& cache,
          runtime::EventLoop& loop,
          std::function<void(const absl::Status& outcome)> changed);
  ~JobData();

  // Whether a trainer can read folder() now. If not, the data are on their way,
  // and `changed` runs.
  bool Take();
  // No trainer reads the data any more; the cache may remove them.
  void Release();

  // Where trainers find the data: the job's folder, or one in the cache.
  const std::string& folder() const { return folder_; }
  // Take compares the files with their hashes.
  bool is_verified() const { return in_store_; }
  // Why the data could not be brought here, for operators; empty while nothing
  // is wrong.
  std::string failure() const;
  // Says that they are on their way; empty when they are not.
  std::string news() const;

 private:
  void Ask();
  void OnAsked(const absl::Status& outcome);
  void SetWaiting(bool waiting);

  const JobId job_;
  const std::string place_;
  const std::string manifest_sha256_;
  const bool in_store_;
  const std::string folder_;
  DataCache& cache_;
  runtime::EventLoop& loop_;
  const std::function<void(const absl::Status& outcome)> changed_;
  // While a trainer reads the data, or they are on their way.
  std::unique_ptr<DataCache::Use> use_;
  bool is_here_ = false;
  // Take was called, and the data are not here yet.
  bool is_waiting_ = false;
  // The cache lacked something when Take was called.
  bool lacks_files_ = false;
  std::string failure_;  // of the last try
  absl::Duration wait_;  // before the next one
  // Replaced by Release: timers of before see it expired.
  std::shared_ptr<char> current_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_DATA_H_
