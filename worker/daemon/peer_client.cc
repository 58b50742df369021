#include "worker/daemon/peer_client.h"

#include <grpcpp/grpcpp.h>

#include <functional>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "proto/skerry/v1/peer.grpc.pb.h"
#include "worker/daemon/unary_call.h"

namespace skerry::worker {
namespace {

// The head answers when the slowest worker of the replica has finished its
// round, which takes as long as it takes: this only bounds a lost call.
constexpr UnaryCallOptions kAsk{.deadline = absl::Seconds(30)};

}  // namespace

struct PeerClient::Connections {
  Connections(runtime::EventLoop& event_loop, const transport::Directory& where,
              std::shared_ptr<transport::Credentials> identity)
      : loop(event_loop), directory(where), credentials(std::move(identity)) {}

  // Null when nobody has said where the worker is.
  v1::Peer::Stub* To(const std::string& worker) {
    const std::string address = directory.EndpointOf(worker);
    if (address.empty()) return nullptr;
    auto& [endpoint, stub] = stubs[worker];
    if (stub == nullptr || endpoint != address) {
      endpoint = address;
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
      arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10000);
      arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
      stub = v1::Peer::NewStub(credentials->ChannelTo(
          endpoint, transport::ServerKind::kWorker, arguments));
    }
    return stub.get();
  }

  runtime::EventLoop& loop;
  const transport::Directory& directory;
  const std::shared_ptr<transport::Credentials> credentials;
  // The endpoint of each worker that was asked, and the way there.
  absl::btree_map<std::string,
                  std::pair<std::string, std::unique_ptr<v1::Peer::Stub>>>
      stubs;
};

PeerClient::PeerClient(runtime::EventLoop& loop,
                       const transport::Directory& directory,
                       std::shared_ptr<transport::Credentials> credentials)
    : connections_(std::make_shared<Connections>(loop, directory,
                                                 std::move(credentials))) {}

PeerClient::~PeerClient() = default;

template <typename Request, typename Reply, typename Method>
void PeerClient::Ask(const std::string& head, Method method, Request request,
                     Done<Reply> done) {
  v1::Peer::Stub* const stub = connections_->To(head);
  if (stub == nullptr) {
    connections_->loop.Post([alive = std::weak_ptr<Connections>(connections_),
                             head, done = std::move(done)]() mutable {
      if (alive.expired()) return;
      std::move(done)(absl::UnavailableError(
          absl::StrCat("nobody has said where worker ", head, " is reached")));
    });
    return;
  }
  StartUnaryCall(stub->async(), method, std::move(request), kAsk,
                 connections_->loop, std::weak_ptr<Connections>(connections_),
                 std::move(done));
}

void PeerClient::AgreeCut(const std::string& head, v1::AgreeCutRequest request,
                          Done<v1::AgreeCutReply> done) {
  // gRPC has two methods of this name.
  void (v1::Peer::Stub::async::*const method)(
      grpc::ClientContext*, const v1::AgreeCutRequest*, v1::AgreeCutReply*,
      std::function<void(grpc::Status)>) = &v1::Peer::Stub::async::AgreeCut;
  Ask(head, method, std::move(request), std::move(done));
}

void PeerClient::Meet(const std::string& head, v1::MeetRequest request,
                      Done<v1::MeetReply> done) {
  void (v1::Peer::Stub::async::*const method)(
      grpc::ClientContext*, const v1::MeetRequest*, v1::MeetReply*,
      std::function<void(grpc::Status)>) = &v1::Peer::Stub::async::Meet;
  Ask(head, method, std::move(request), std::move(done));
}

}  // namespace skerry::worker
