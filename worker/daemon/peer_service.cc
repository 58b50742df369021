#include "worker/daemon/peer_service.h"

#include <grpcpp/grpcpp.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/status.h"
#include "identity/name.h"
#include "transport/grpc/caller.h"

namespace skerry::worker {
namespace {

// The guard of the port has let only workers in. Errors: those of CallerOf.
absl::StatusOr<std::optional<std::string>> WorkerAt(
    const grpc::AuthContext& context) {
  SKERRY_ASSIGN_OR_RETURN(const transport::Caller caller,
                          transport::CallerOf(context));
  if (!caller.name.has_value()) return std::nullopt;
  const auto* const worker =
      std::get_if<identity::WorkerName>(&caller.name->who);
  return worker == nullptr ? std::string() : worker->worker;
}

}  // namespace

template <typename Request, typename Reply>
grpc::ServerUnaryReactor* PeerService::Ask(
    grpc::CallbackServerContext* context, const Request* request, Reply* reply,
    void (PeerReceiver::*method)(const Request&,
                                 const std::optional<std::string>&,
                                 PeerReceiver::Answer<Reply>)) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::StatusOr<std::optional<std::string>> worker =
      WorkerAt(*context->auth_context());
  if (!worker.ok()) {
    reactor->Finish(grpc::Status(grpc::StatusCode::UNAUTHENTICATED,
                                 std::string(worker.status().message())));
    return reactor;
  }
  loop_.Post([this, request, reply, reactor, method, worker = *worker] {
    if (receiver_ == nullptr) {
      reactor->Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE,
                                   "the worker starts or stops"));
      return;
    }
    (receiver_->*method)(
        *request, worker, [reply, reactor](absl::StatusOr<Reply> answer) {
          if (answer.ok()) *reply = *std::move(answer);
          reactor->Finish(grpc::Status(
              static_cast<grpc::StatusCode>(answer.status().code()),
              std::string(answer.status().message())));
        });
  });
  return reactor;
}

grpc::ServerUnaryReactor* PeerService::AgreeCut(
    grpc::CallbackServerContext* context, const v1::AgreeCutRequest* request,
    v1::AgreeCutReply* reply) {
  return Ask(context, request, reply, &PeerReceiver::OnAgreeCut);
}

grpc::ServerUnaryReactor* PeerService::Meet(
    grpc::CallbackServerContext* context, const v1::MeetRequest* request,
    v1::MeetReply* reply) {
  return Ask(context, request, reply, &PeerReceiver::OnMeet);
}

}  // namespace skerry::worker
