#include "worker/daemon/peer_service.h"

#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>

namespace skerry::worker {

PeerService::PeerService(runtime::EventLoop& loop, Handler handler)
    : loop_(loop), handler_(std::move(handler)) {}

void PeerService::Close() {
  handler_ = [](const v1::AgreeCutRequest&, Answer answer) {
    std::move(answer)(absl::UnavailableError("the worker is stopping"));
  };
}

grpc::ServerUnaryReactor* PeerService::AgreeCut(
    grpc::CallbackServerContext* context, const v1::AgreeCutRequest* request,
    v1::AgreeCutReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  loop_.Post([this, request, reply, reactor] {
    handler_(*request,
             [reply, reactor](absl::StatusOr<v1::AgreeCutReply> answer) {
               if (answer.ok()) *reply = *std::move(answer);
               reactor->Finish(grpc::Status(
                   static_cast<grpc::StatusCode>(answer.status().code()),
                   std::string(answer.status().message())));
             });
  });
  return reactor;
}

}  // namespace skerry::worker
