#include "coordinator/service/job_watches.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/convert/operator.h"
#include "coordinator/service/find_job.h"

namespace skerry::coordinator {
namespace {

bool Ended(JobPhase phase) {
  return phase != JobPhase::kPending && phase != JobPhase::kRunning;
}

// What must differ for a view to be news.
std::string NewsOf(const v1::JobView& view) {
  v1::JobView ageless = view;
  ageless.clear_age_ms();
  return ageless.SerializeAsString();
}

}  // namespace

JobWatches::JobWatches(const WatchOptions& options, runtime::EventLoop& loop,
                       ClusterShell& shell)
    : options_(options), loop_(loop), shell_(shell) {}

grpc::ServerWriteReactor<v1::JobView>* JobWatches::Open(
    grpc::CallbackServerContext& context, const v1::GetJobRequest& request) {
  const uint64_t id = ++made_;
  auto stream =
      std::make_unique<PushStream<v1::JobView>>(id, loop_, *this, context);
  PushStream<v1::JobView>* reactor = stream.get();
  loop_.Post([this, id, request, stream = std::move(stream)]() mutable {
    Admit(id, std::move(stream), std::move(request));
  });
  return reactor;
}

void JobWatches::Admit(uint64_t id,
                       std::unique_ptr<PushStream<v1::JobView>> stream,
                       v1::GetJobRequest request) {
  PushStream<v1::JobView>& admitted = *stream;
  watches_[id].stream = std::move(stream);
  if (closed_.has_value()) {
    admitted.Finish(*closed_);
  } else if (watches_.size() > options_.watches_max) {
    admitted.Finish(absl::ResourceExhaustedError(absl::StrCat(
        options_.watches_max, " watches are open; try again later")));
  } else {
    shell_.Look([this, id, request = std::move(request)](const Cluster& cluster,
                                                         Instant now) {
      Begin(id, request, cluster, now);
    });
  }
}

void JobWatches::Begin(uint64_t id, const v1::GetJobRequest& request,
                       const Cluster& cluster, Instant now) {
  const auto it = watches_.find(id);
  if (it == watches_.end()) return;
  const absl::StatusOr<JobId> job = FindJob(cluster, request);
  if (!job.ok()) {
    it->second.stream->Finish(job.status());
    return;
  }
  it->second.job = *job;
  Consider(id, cluster, now);
}

void JobWatches::Consider(uint64_t id, const Cluster& cluster, Instant now) {
  const auto it = watches_.find(id);
  if (it == watches_.end()) return;
  Watch& watch = it->second;
  if (!watch.job.is_set() || watch.resting || !watch.stream->ready()) return;
  const absl::StatusOr<JobView> view = cluster.ViewJob(watch.job, now);
  if (!view.ok()) {
    watch.stream->Finish(view.status());
    return;
  }
  v1::JobView message;
  JobViewToProto(*view, &message);
  std::string news = NewsOf(message);
  if (news != watch.sent) {
    watch.sent = std::move(news);
    watch.stream->Send(std::move(message));
  }
  if (Ended(view->phase)) {
    watch.stream->Finish(absl::OkStatus());
  } else {
    Rest(id, watch, now);
  }
}

void JobWatches::Rest(uint64_t id, Watch& watch, Instant now) {
  watch.resting = true;
  loop_.RunAt(loop_.Now() + options_.interval, [this, id] {
    const auto it = watches_.find(id);
    if (it == watches_.end()) return;
    it->second.resting = false;
    OnReady(id);
  });
}

void JobWatches::OnSettled(const Cluster& cluster, Instant now) {
  for (auto& [id, watch] : watches_) Consider(id, cluster, now);
}

void JobWatches::OnReady(uint64_t id) {
  shell_.Look([this, id](const Cluster& cluster, Instant now) {
    Consider(id, cluster, now);
  });
}

void JobWatches::OnCancelled(uint64_t id) {
  const auto it = watches_.find(id);
  if (it != watches_.end()) {
    it->second.stream->Finish(absl::CancelledError("the caller left"));
  }
}

void JobWatches::OnDone(uint64_t id) { watches_.erase(id); }

void JobWatches::Close(const absl::Status& why) {
  closed_ = why;
  for (auto& [id, watch] : watches_) watch.stream->Close(why);
}

}  // namespace skerry::coordinator
