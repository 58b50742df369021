// worker/daemon/peer_service.h
//
// Answers Peer's calls at the head of a replica. Questions wait here until the
// head has heard from every worker of its replica.
#ifndef SKERRY_WORKER_DAEMON_PEER_SERVICE_H_
#define SKERRY_WORKER_DAEMON_PEER_SERVICE_H_

#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "proto/skerry/v1/peer.grpc.pb.h"
#include "runtime/event_loop.h"

namespace skerry::worker {

// What the workers of a replica ask its head. Members are called on the loop
// and call `answer` now or later, from the loop. `worker` is the caller's name
// in its certificate, and none in plaintext.
class PeerReceiver {
 public:
  template <typename Reply>
  using Answer = absl::AnyInvocable<void(absl::StatusOr<Reply>) &&>;

  virtual ~PeerReceiver() = default;
  virtual void OnAgreeCut(const v1::AgreeCutRequest& request,
                          const std::optional<std::string>& worker,
                          Answer<v1::AgreeCutReply> answer) = 0;
  virtual void OnMeet(const v1::MeetRequest& request,
                      const std::optional<std::string>& worker,
                      Answer<v1::MeetReply> answer) = 0;
};

class PeerService final : public v1::Peer::CallbackService {
 public:
  // `loop` outlives the service and its last answer.
  explicit PeerService(runtime::EventLoop& loop) : loop_(loop) {}

  // Asks `receiver` from now on, which outlives its use; while it is null, and
  // so at first, calls are answered Unavailable. On the loop.
  void set_receiver(PeerReceiver* receiver) { receiver_ = receiver; }

  grpc::ServerUnaryReactor* AgreeCut(grpc::CallbackServerContext* context,
                                     const v1::AgreeCutRequest* request,
                                     v1::AgreeCutReply* reply) override;
  grpc::ServerUnaryReactor* Meet(grpc::CallbackServerContext* context,
                                 const v1::MeetRequest* request,
                                 v1::MeetReply* reply) override;

 private:
  template <typename Request, typename Reply>
  grpc::ServerUnaryReactor* Ask(
      grpc::CallbackServerContext* context, const Request* request,
      Reply* reply,
      void (PeerReceiver::*method)(const Request&,
                                   const std::optional<std::string>&,
                                   PeerReceiver::Answer<Reply>));

  runtime::EventLoop& loop_;
  PeerReceiver* receiver_ = nullptr;  // touched on `loop_` only
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PEER_SERVICE_H_
