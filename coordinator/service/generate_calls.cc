#include "coordinator/service/generate_calls.h"

#include <string>
#include <utility>

#include "coordinator/service/find_job.h"
#include "coordinator/service/grpc_status.h"

namespace skerry::coordinator {

// Created on a gRPC thread, then used on the loop.
class GenerateCalls::Call final : public grpc::ServerUnaryReactor {
 public:
  Call(uint64_t number, const v1::GenerateTextRequest* request,
       v1::GenerateTextReply* reply, GenerateCalls& owner)
      : number(number), request(request), reply(reply), owner_(owner) {}

  void OnCancel() override {
    owner_.loop_.Post(
        [&owner = owner_, number = number] { owner.Forget(number); });
  }
  void OnDone() override {
    owner_.loop_.Post(
        [&owner = owner_, number = number] { owner.calls_.erase(number); });
  }

  const uint64_t number;
  const v1::GenerateTextRequest* const request;
  v1::GenerateTextReply* const reply;
  bool finished = false;

 private:
  GenerateCalls& owner_;
};

GenerateCalls::GenerateCalls(const GenerateOptions& options, uint64_t term,
                             runtime::EventLoop& loop, ClusterShell& shell)
    : options_(options),
      loop_(loop),
      shell_(shell),
      next_request_((term << 32) + 1) {}

GenerateCalls::~GenerateCalls() = default;

grpc::ServerUnaryReactor* GenerateCalls::Open(
    const v1::GenerateTextRequest* request, v1::GenerateTextReply* reply) {
  auto call = std::make_unique<Call>(next_request_++, request, reply, *this);
  Call* reactor = call.get();
  loop_.Post(
      [this, call = std::move(call)]() mutable { Admit(std::move(call)); });
  return reactor;
}

void GenerateCalls::Admit(std::unique_ptr<Call> call) {
  const uint64_t number = call->number;
  const v1::GenerateTextRequest request = *call->request;
  calls_.emplace(number, std::move(call));
  if (closed_.has_value()) {
    Finish(number, *closed_);
    return;
  }
  shell_.Do([this, number, request](Cluster& cluster,
                                    Instant now) -> ClusterShell::Settled {
    const absl::StatusOr<JobId> job = FindJob(cluster, request);
    absl::Status asked = job.status();
    if (asked.ok()) {
      const GenerateOrder order{.request = number,
                                .prompt = request.prompt(),
                                .tokens = request.tokens(),
                                .temperature = request.temperature(),
                                .seed = request.seed()};
      asked = cluster.Generate(*job, order, options_.timeout, now);
    }
    return [this, number, asked](const Cluster&, Instant) {
      if (!asked.ok()) Finish(number, asked);
    };
  });
}

void GenerateCalls::OnAnswers(std::vector<GenerateAnswer> answers) {
  for (GenerateAnswer& answer : answers) {
    const auto it = calls_.find(answer.request);
    if (it == calls_.end() || it->second->finished) continue;
    if (answer.status.ok()) {
      it->second->reply->set_text(std::move(answer.text));
      it->second->reply->set_sequence(answer.sequence.value());
    }
    Finish(answer.request, answer.status);
  }
}

void GenerateCalls::Forget(uint64_t request) {
  const auto it = calls_.find(request);
  if (it == calls_.end() || it->second->finished) return;
  Finish(request, absl::CancelledError("the caller left"));
  shell_.Do([request](Cluster& cluster, Instant) -> ClusterShell::Settled {
    cluster.ForgetGenerate(request);
    return [](const Cluster&, Instant) {};
  });
}

void GenerateCalls::Finish(uint64_t request, const absl::Status& status) {
  const auto it = calls_.find(request);
  if (it == calls_.end() || it->second->finished) return;
  it->second->finished = true;
  it->second->Finish(ToGrpc(status));
}

void GenerateCalls::Close(const absl::Status& why) {
  closed_ = why;
  for (auto& [number, call] : calls_) {
    if (call->finished) continue;
    call->finished = true;
    call->Finish(ToGrpc(why));
  }
}

}  // namespace skerry::coordinator
