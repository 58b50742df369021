// coordinator/service/job_watches.h
//
// Serves operators who watch a job: it sends a view at once and after every
// change, but not more often than they can read.
#ifndef SKERRY_COORDINATOR_SERVICE_JOB_WATCHES_H_
#define SKERRY_COORDINATOR_SERVICE_JOB_WATCHES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "coordinator/core/cluster.h"
#include "coordinator/service/cluster_shell.h"
#include "coordinator/service/push_stream.h"
#include "proto/skerry/v1/operator.pb.h"
#include "runtime/event_loop.h"

namespace skerry::coordinator {

struct WatchOptions {
  size_t watches_max = 256;
  // Between two views of one watch.
  absl::Duration interval = absl::Milliseconds(200);
};

// Every view is whole, so only the newest is ever sent, and an operator resumes
// a broken watch by watching again. The last view shows the job's end.
class JobWatches final : public PushStreamOwner {
 public:
  // `loop` and `shell` outlive the watches, and they the server.
  JobWatches(const WatchOptions& options, runtime::EventLoop& loop,
             ClusterShell& shell);

  // On a gRPC thread. `request` is copied.
  grpc::ServerWriteReactor<v1::JobView>* Open(
      grpc::CallbackServerContext& context, const v1::GetJobRequest& request);

  // On the loop.
  void OnSettled(const Cluster& cluster, Instant now);
  void Close(const absl::Status& why);

  void OnReady(uint64_t stream) override;
  void OnCancelled(uint64_t stream) override;
  void OnDone(uint64_t stream) override;

 private:
  struct Watch {
    std::unique_ptr<PushStream<v1::JobView>> stream;
    JobId job;
    // Looked at within the last interval.
    bool resting = false;
    // The view that was sent, but for its age.
    std::string sent;
  };

  void Admit(uint64_t id, std::unique_ptr<PushStream<v1::JobView>> stream,
             v1::GetJobRequest request);
  void Begin(uint64_t id, const v1::GetJobRequest& request,
             const Cluster& cluster, Instant now);
  void Consider(uint64_t id, const Cluster& cluster, Instant now);
  void Rest(uint64_t id, Watch& watch, Instant now);

  const WatchOptions options_;
  runtime::EventLoop& loop_;
  ClusterShell& shell_;
  std::atomic<uint64_t> made_ = 0;
  // All below: on the loop.
  absl::btree_map<uint64_t, Watch> watches_;
  std::optional<absl::Status> closed_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_JOB_WATCHES_H_
