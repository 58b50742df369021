// worker/daemon/data_cache.h
//
// Keeps data sets of object stores and of other workers on this worker's disk,
// where trainers read them as folders. Jobs with the same manifest share a
// folder.
#ifndef SKERRY_WORKER_DAEMON_DATA_CACHE_H_
#define SKERRY_WORKER_DAEMON_DATA_CACHE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "runtime/metrics.h"
#include "worker/daemon/data_fetches.h"
#include "worker/daemon/data_source.h"

namespace skerry::worker {

// Members are called on the loop, and so are the handlers. Outlives its uses
// and every task that it has given to the fetcher.
class DataCache {
 public:
  explicit DataCache(const DataCacheOptions& options);
  ~DataCache();

  // Has the fetcher look at what the disk has.
  void Start();

  // A data set in use, or on its way. Its files stay until this is destroyed.
  class Use {
   public:
    virtual ~Use() = default;
  };

  // Takes the data set whose manifest has this SHA-256 into use, and fetches
  // from `source` what is not here. `done` runs once, unless the use is
  // destroyed before. With OK, FolderOf(manifest_sha256) is whole and has the
  // right hashes. Errors: those of DataSetCopy and CachedSets; nothing is in
  // use then.
  using Done = absl::AnyInvocable<void(absl::Status) &&>;
  std::unique_ptr<Use> Take(std::shared_ptr<DataSource> source,
                            const std::string& manifest_sha256, Done done);

  std::string FolderOf(const std::string& manifest_sha256) const;
  // Whether the folder seems to lack nothing. Asks the disk for the lengths of
  // its files.
  bool SeemsWhole(const std::string& manifest_sha256) const;

  // A job begins, or ceases, to wait for its data.
  void OnWaitBegins();
  void OnWaitEnds();
  void AddMetrics(std::vector<runtime::Metric>& metrics) const;

 private:
  class Held;

  // Waits of all jobs until now.
  absl::Duration Waited() const;

  const DataCacheOptions options_;
  const std::unique_ptr<DataFetches> fetches_;
  int waiting_ = 0;
  Instant counted_at_;
  absl::Duration waited_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_DATA_CACHE_H_
