// worker/daemon/peer_client.h
//
// Asks the head of a replica (proto/skerry/v1/peer.proto).
#ifndef SKERRY_WORKER_DAEMON_PEER_CLIENT_H_
#define SKERRY_WORKER_DAEMON_PEER_CLIENT_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "proto/skerry/v1/peer.pb.h"
#include "runtime/event_loop.h"
#include "transport/directory.h"
#include "transport/grpc/credentials.h"

namespace skerry::worker {

// Members are called on `loop`; every `done` runs on it, unless the client was
// destroyed first.
class PeerClient {
 public:
  template <typename Reply>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Reply>) &&>;

  // `loop` and `directory` outlive the client.
  PeerClient(runtime::EventLoop& loop, const transport::Directory& directory,
             std::shared_ptr<transport::Credentials> credentials);
  ~PeerClient();
  PeerClient(const PeerClient&) = delete;
  PeerClient& operator=(const PeerClient&) = delete;

  // They ask the worker named `head`. Errors: the head's own; Unavailable when
  // it cannot be reached and DeadlineExceeded when it has not answered for a
  // while: ask again for as long as the life is current.
  void AgreeCut(const std::string& head, v1::AgreeCutRequest request,
                Done<v1::AgreeCutReply> done);
  void Meet(const std::string& head, v1::MeetRequest request,
            Done<v1::MeetReply> done);

 private:
  struct Connections;

  template <typename Request, typename Reply, typename Method>
  void Ask(const std::string& head, Method method, Request request,
           Done<Reply> done);

  std::shared_ptr<Connections> connections_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PEER_CLIENT_H_
