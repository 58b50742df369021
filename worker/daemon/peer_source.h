// worker/daemon/peer_source.h
//
// Fetches the files of a job's data set from other workers of the job, one
// chunk at a time (docs/formats/bulk.md).
#ifndef SKERRY_WORKER_DAEMON_PEER_SOURCE_H_
#define SKERRY_WORKER_DAEMON_PEER_SOURCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "runtime/posix/mutex.h"
#include "transport/bulk.h"
#include "worker/daemon/data_source.h"

namespace skerry::worker {

// The workers that have the data set, as the newest orders name them. Any
// thread calls.
class DataHolders {
 public:
  void Set(std::vector<std::string> names);
  std::vector<std::string> Get() const;

 private:
  mutable runtime::Mutex mutex_;
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
};

// Asks a worker for one chunk. `done` runs once on any thread, or is destroyed
// unrun. Any thread calls.
using AskWorker =
    std::function<void(const std::string& worker, const protocol::PieceKey& key,
                       transport::BulkTransport::FetchDone done)>;

struct PeerSourceOptions {
  JobId job;
  // SHA-256 of the set's manifest.
  std::string set;
  std::shared_ptr<const DataHolders> holders;
  AskWorker ask;
  // The wait before a worker that could not answer is asked again; it doubles.
  absl::Duration retry_wait = absl::Milliseconds(200);
};

class PeerSource final : public DataSource {
 public:
  explicit PeerSource(PeerSourceOptions options);

  // Workers that have failed come last.
  std::vector<std::string> Origins() const override;
  absl::Status Read(
      const std::string& origin, const DataFile& file,
      absl::FunctionRef<absl::Status(runtime::ByteSpan piece)> take) override;
  absl::Status Named(const std::string& origin,
                     const absl::Status& error) const override;
  void OnFailed(const std::string& origin, const absl::Status& error) override;
  void Drop() override;

  // What the last worker that failed said; empty when none has.
  std::string trouble() const;

 private:
  absl::StatusOr<SharedBytes> FetchChunk(const std::string& origin,
                                         const protocol::PieceKey& key);
  absl::StatusOr<SharedBytes> AskOnce(const std::string& origin,
                                      const protocol::PieceKey& key);
  absl::Status Wait(absl::Duration wait);

  const PeerSourceOptions options_;
  // What wakes those that wait; shared with answers that come late.
  struct Bell {
    runtime::Mutex mutex;
    runtime::CondVar rings;
    bool dropped ABSL_GUARDED_BY(mutex) = false;
  };
  const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  mutable runtime::Mutex mutex_;
  absl::btree_map<std::string, int> failures_ ABSL_GUARDED_BY(mutex_);
  std::string trouble_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PEER_SOURCE_H_
