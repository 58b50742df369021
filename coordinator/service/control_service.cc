#include "coordinator/service/control_service.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "identity/name.h"
#include "identity/x509/identity_folder.h"
#include "runtime/log.h"

namespace skerry::coordinator {

using runtime::Log;
using runtime::Severity;

namespace {

// A worker with a certificate speaks for that worker alone.
absl::Status CheckOwn(const transport::Caller& caller,
                      const transport::Revocations& revocations,
                      const StatusFacts& status) {
  if (!caller.name.has_value()) return absl::OkStatus();
  // The stream may have begun before.
  if (revocations.Contain(Describe(caller), caller.serial)) {
    return absl::UnauthenticatedError(
        absl::StrCat("the certificate of ", Describe(caller), " is revoked"));
  }
  const auto* const certified =
      std::get_if<identity::WorkerName>(&caller.name->who);
  if (certified != nullptr && certified->worker == status.self.worker &&
      certified->island == status.island) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      absl::StrCat("self.worker, island: this says worker ", status.self.worker,
                   " of island ", status.island, ", and the certificate is of ",
                   Describe(caller)));
}

}  // namespace

ControlService::ControlService(const ControlOptions& options,
                               runtime::EventLoop& loop, ClusterShell& shell)
    : options_(options), loop_(loop), shell_(shell) {}

grpc::ServerBidiReactor<v1::Status, v1::Orders>* ControlService::Session(
    grpc::CallbackServerContext* context) {
  const uint64_t id = ++streams_made_;
  // The guard has refused certificates that cannot be read.
  transport::Caller caller = transport::CallerOf(*context->auth_context())
                                 .value_or(transport::Caller());
  if (options_.mark) {
    context->AddInitialMetadata(identity::kMarkHeader, options_.mark());
  }
  // The loop owns it before gRPC can call it, so its first call finds it there.
  auto stream =
      std::make_unique<ControlStream>(id, std::move(caller), context->peer(),
                                      loop_, *this, options_.orders_bytes_max);
  ControlStream* reactor = stream.get();
  loop_.Post([this, id, stream = std::move(stream)]() mutable {
    Admit(std::move(stream), id);
  });
  return reactor;
}

void ControlService::Admit(std::unique_ptr<ControlStream> stream, uint64_t id) {
  ControlStream& admitted = *stream;
  streams_.emplace(id, std::move(stream));
  if (closed_.has_value()) {
    admitted.Finish(*closed_);
  } else if (streams_.size() > options_.streams_max) {
    admitted.Finish(absl::ResourceExhaustedError(absl::StrCat(
        options_.streams_max, " worker streams are open; try again later")));
  }
}

ControlStream* ControlService::Find(uint64_t id) {
  const auto it = streams_.find(id);
  return it == streams_.end() ? nullptr : it->second.get();
}

void ControlService::OnStatus(uint64_t id, StatusFacts status) {
  ControlStream* stream = Find(id);
  if (stream == nullptr) return;
  const absl::Status own =
      CheckOwn(stream->caller(), *options_.revocations, status);
  if (!own.ok()) {
    OnBadStatus(id, own);
    return;
  }
  ControlStream::Identity identity{status.self.worker, status.boot};
  if (stream->identity.has_value() &&
      (stream->identity->worker != identity.worker ||
       stream->identity->boot != identity.boot)) {
    OnBadStatus(id, absl::InvalidArgumentError(absl::StrCat(
                        "self.worker, boot: this stream speaks for another "
                        "process of worker ",
                        stream->identity->worker)));
    return;
  }
  if (options_.look && status.machine.unix_ms != 0) {
    status.machine.clock_ahead_ms =
        status.machine.unix_ms - options_.look().unix_ms;
  }
  shell_.Do(
      [this, id, identity = std::move(identity), status = std::move(status)](
          Cluster& cluster, Instant now) mutable -> ClusterShell::Settled {
        return [this, id, identity = std::move(identity),
                taken = cluster.OnStatus(status, now)](
                   const Cluster&, Instant) { Answer(id, identity, taken); };
      });
}

void ControlService::Answer(uint64_t id,
                            const ControlStream::Identity& identity,
                            const absl::Status& taken) {
  ControlStream* stream = Find(id);
  if (stream == nullptr || stream->finished()) return;
  if (!taken.ok()) {
    OnBadStatus(id, taken);
    return;
  }
  MakeLive(id, *stream, identity);
  shell_.Touch(identity.worker);
  stream->Accepted();
}

void ControlService::MakeLive(uint64_t id, ControlStream& stream,
                              const ControlStream::Identity& identity) {
  if (stream.identity.has_value()) return;
  stream.identity = identity;
  const auto older = live_.find(identity.worker);
  if (older != live_.end()) {
    if (ControlStream* replaced = Find(older->second)) {
      replaced->Finish(absl::AbortedError(absl::StrCat(
          "a newer stream of worker ", identity.worker, " replaced this one")));
    }
  }
  live_[identity.worker] = id;
  stream.set_on_ready(
      [this, worker = identity.worker] { shell_.StreamReady(worker); });
  shell_.Attach(identity.worker, stream);
  Log(Severity::kInfo, "coordinator.worker.connected",
      {{"worker", identity.worker}});
}

void ControlService::Unlink(const ControlStream& stream, uint64_t id) {
  if (!stream.identity.has_value()) return;
  const auto live = live_.find(stream.identity->worker);
  if (live == live_.end() || live->second != id) return;
  live_.erase(live);
  shell_.Detach(stream.identity->worker, stream);
  // When we stop, nobody has left.
  if (closed_.has_value()) return;
  Log(Severity::kInfo, "coordinator.worker.stream.lost",
      {{"worker", stream.identity->worker}});
  shell_.Do([lost = *stream.identity](Cluster& cluster,
                                      Instant now) -> ClusterShell::Settled {
    cluster.OnStreamLost(lost.worker, lost.boot, now);
    return [](const Cluster&, Instant) {};
  });
}

void ControlService::OnBadStatus(uint64_t id, const absl::Status& why) {
  ControlStream* stream = Find(id);
  if (stream == nullptr || stream->finished()) return;
  Log(Severity::kWarning, "coordinator.status.refused",
      {{"caller", Describe(stream->caller())},
       {"from", stream->from()},
       {"cause", why}});
  Unlink(*stream, id);
  stream->Finish(why);
}

void ControlService::OnClosed(uint64_t id) {
  ControlStream* stream = Find(id);
  if (stream == nullptr) return;
  Unlink(*stream, id);
  stream->Finish(absl::OkStatus());
}

void ControlService::OnDone(uint64_t id) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  Unlink(*it->second, id);
  streams_.erase(it);
}

void ControlService::Close(const absl::Status& why) {
  closed_ = why;
  for (auto& [id, stream] : streams_) {
    Unlink(*stream, id);
    stream->Finish(why);
  }
}

}  // namespace skerry::coordinator
