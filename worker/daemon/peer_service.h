// worker/daemon/peer_service.h
//
// Answers Peer.AgreeCut at the head of a replica. Questions wait here until the
// seat has heard from every worker of its replica.
#ifndef SKERRY_WORKER_DAEMON_PEER_SERVICE_H_
#define SKERRY_WORKER_DAEMON_PEER_SERVICE_H_

#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "proto/skerry/v1/peer.grpc.pb.h"
#include "runtime/event_loop.h"

namespace skerry::worker {

class PeerService final : public v1::Peer::CallbackService {
 public:
  using Answer = absl::AnyInvocable<void(absl::StatusOr<v1::AgreeCutReply>) &&>;
  // Runs on the loop; calls `answer` now or later, from the loop. `worker` is
  // the caller's name in its certificate, and none in plaintext.
  using Handler = absl::AnyInvocable<void(
      const v1::AgreeCutRequest&, const std::optional<std::string>& worker,
      Answer answer)>;

  // `loop` outlives the service and its last answer.
  PeerService(runtime::EventLoop& loop, Handler handler);

  // Answers later asks with Unavailable. On the loop.
  void Close();

  grpc::ServerUnaryReactor* AgreeCut(grpc::CallbackServerContext* context,
                                     const v1::AgreeCutRequest* request,
                                     v1::AgreeCutReply* reply) override;

 private:
  runtime::EventLoop& loop_;
  // Touched on `loop_` only.
  Handler handler_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PEER_SERVICE_H_
