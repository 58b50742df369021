#include "coordinator/service/event_streams.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "coordinator/convert/operator.h"
#include "coordinator/service/find_job.h"

namespace skerry::coordinator {

EventStreams::EventStreams(const EventStreamOptions& options,
                           runtime::EventLoop& loop, ClusterShell& shell)
    : options_(options), loop_(loop), shell_(shell), log_(options.events_max) {}

grpc::ServerWriteReactor<v1::Event>* EventStreams::Open(
    grpc::CallbackServerContext& context,
    const v1::StreamEventsRequest& request) {
  const uint64_t id = ++made_;
  auto stream =
      std::make_unique<PushStream<v1::Event>>(id, loop_, *this, context);
  PushStream<v1::Event>* reactor = stream.get();
  loop_.Post([this, id, request, stream = std::move(stream)]() mutable {
    Admit(id, std::move(stream), std::move(request));
  });
  return reactor;
}

void EventStreams::Admit(uint64_t id,
                         std::unique_ptr<PushStream<v1::Event>> stream,
                         v1::StreamEventsRequest request) {
  PushStream<v1::Event>& admitted = *stream;
  readers_[id].stream = std::move(stream);
  if (closed_.has_value()) {
    admitted.Finish(*closed_);
  } else if (readers_.size() > options_.streams_max) {
    admitted.Finish(absl::ResourceExhaustedError(absl::StrCat(
        options_.streams_max, " event streams are open; try again later")));
  } else {
    shell_.Look([this, id, request = std::move(request)](const Cluster& cluster,
                                                         Instant now) {
      Begin(id, request, cluster, now);
    });
  }
}

void EventStreams::Begin(uint64_t id, const v1::StreamEventsRequest& request,
                         const Cluster& cluster, Instant now) {
  const auto it = readers_.find(id);
  if (it == readers_.end()) return;
  Reader& reader = it->second;
  const absl::Status found = Choose(request, cluster, now, reader);
  if (!found.ok()) {
    reader.stream->Finish(found);
    return;
  }
  reader.after = Revision(request.after());
  reader.follow = request.follow();
  Advance(reader, now);
}

absl::Status EventStreams::Choose(const v1::StreamEventsRequest& request,
                                  const Cluster& cluster, Instant now,
                                  Reader& reader) {
  if (!request.worker().empty()) {
    SKERRY_RETURN_IF_ERROR(cluster.ViewWorker(request.worker(), now).status());
    reader.worker = request.worker();
    return absl::OkStatus();
  }
  SKERRY_ASSIGN_OR_RETURN(const JobId job, FindJob(cluster, request));
  SKERRY_RETURN_IF_ERROR(cluster.ViewJob(job, now).status());
  reader.job = job;
  return absl::OkStatus();
}

void EventStreams::Advance(Reader& reader, Instant now) {
  const bool of_worker = !reader.worker.empty();
  if (!(of_worker || reader.job.is_set()) || !reader.stream->ready()) return;
  const LoggedEvent* next = of_worker
                                ? log_.NextOfWorker(reader.worker, reader.after)
                                : log_.Next(reader.job, reader.after);
  if (next == nullptr) {
    if (!reader.follow || (!of_worker && log_.Ended(reader.job))) {
      reader.stream->Finish(absl::OkStatus());
    }
    return;
  }
  reader.after = next->event.revision;
  v1::Event message;
  EventToProto(next->event, now - next->at, &message);
  reader.stream->Send(std::move(message));
}

void EventStreams::OnSettled(std::span<const Entry> fresh, Instant now) {
  if (fresh.empty()) return;
  for (const Entry& entry : fresh) log_.Add(entry, now);
  for (auto& [id, reader] : readers_) Advance(reader, now);
}

// The log holds only what is durable, so it may be read at any time.
void EventStreams::OnReady(uint64_t id) {
  const auto it = readers_.find(id);
  if (it != readers_.end()) Advance(it->second, shell_.Now());
}

void EventStreams::OnCancelled(uint64_t id) {
  const auto it = readers_.find(id);
  if (it != readers_.end()) {
    it->second.stream->Finish(absl::CancelledError("the caller left"));
  }
}

void EventStreams::OnDone(uint64_t id) { readers_.erase(id); }

void EventStreams::Close(const absl::Status& why) {
  closed_ = why;
  for (auto& [id, reader] : readers_) reader.stream->Close(why);
}

}  // namespace skerry::coordinator
