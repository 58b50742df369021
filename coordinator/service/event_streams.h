// coordinator/service/event_streams.h
//
// Streams the events of a job or a worker to operators.
#ifndef SKERRY_COORDINATOR_SERVICE_EVENT_STREAMS_H_
#define SKERRY_COORDINATOR_SERVICE_EVENT_STREAMS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordinator/core/cluster.h"
#include "coordinator/service/cluster_shell.h"
#include "coordinator/service/event_log.h"
#include "coordinator/service/push_stream.h"
#include "proto/skerry/v1/operator.pb.h"
#include "runtime/event_loop.h"

namespace skerry::coordinator {

struct EventStreamOptions {
  size_t streams_max = 256;
  size_t events_max = 100'000;
  // How many of the newest events go into a snapshot. They outlive their
  // records and a restart.
  size_t events_saved_max = 10'000;
};

// Each message carries one event. A stream sends every event once, in the order
// of the journal. After a break, an operator asks for the events after the last
// revision seen.
class EventStreams final : public PushStreamOwner {
 public:
  // `loop` and `shell` must outlive the streams, and the streams the server.
  EventStreams(const EventStreamOptions& options, runtime::EventLoop& loop,
               ClusterShell& shell);

  // On a gRPC thread. `request` is copied.
  grpc::ServerWriteReactor<v1::Event>* Open(
      grpc::CallbackServerContext& context,
      const v1::StreamEventsRequest& request);

  // On the loop.
  void OnSettled(std::span<const Entry> fresh, Instant now);
  EventHistory SaveEvents() const {
    return log_.Save(options_.events_saved_max);
  }
  void RestoreEvents(const EventHistory& events, Instant now) {
    log_.Restore(events, now);
  }
  std::vector<LoggedEvent> Newest(Revision after, size_t most) const {
    return log_.Newest(after, most);
  }
  void Close(const absl::Status& why);

  void OnReady(uint64_t stream) override;
  void OnCancelled(uint64_t stream) override;
  void OnDone(uint64_t stream) override;

 private:
  struct Reader {
    std::unique_ptr<PushStream<v1::Event>> stream;
    // One of these two is set: the job or the worker whose events are read.
    JobId job;
    std::string worker;
    Revision after;
    bool follow = false;
  };

  void Admit(uint64_t id, std::unique_ptr<PushStream<v1::Event>> stream,
             v1::StreamEventsRequest request);
  void Begin(uint64_t id, const v1::StreamEventsRequest& request,
             const Cluster& cluster, Instant now);
  static absl::Status Choose(const v1::StreamEventsRequest& request,
                             const Cluster& cluster, Instant now,
                             Reader& reader);
  void Advance(Reader& reader, Instant now);

  const EventStreamOptions options_;
  runtime::EventLoop& loop_;
  ClusterShell& shell_;
  std::atomic<uint64_t> made_ = 0;
  // All below: on the loop.
  EventLog log_;
  absl::btree_map<uint64_t, Reader> readers_;
  std::optional<absl::Status> closed_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_EVENT_STREAMS_H_
