#include "worker/daemon/peer_client.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/container/btree_map.h"
#include "proto/skerry/v1/peer.grpc.pb.h"
#include "worker/daemon/unary_call.h"

namespace skerry::worker {
namespace {

// The head answers when the slowest worker of the replica has finished its
// round, which takes as long as it takes: this only bounds a lost call.
constexpr UnaryCallOptions kAsk{.deadline = absl::Seconds(30)};

}  // namespace

struct PeerClient::Connections {
  Connections(runtime::EventLoop& event_loop,
              std::shared_ptr<transport::Credentials> identity)
      : loop(event_loop), credentials(std::move(identity)) {}

  v1::Peer::Stub& To(const std::string& address) {
    std::unique_ptr<v1::Peer::Stub>& stub = stubs[address];
    if (stub == nullptr) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
      arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10000);
      arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
      stub = v1::Peer::NewStub(credentials->ChannelTo(
          address, transport::ServerKind::kWorker, arguments));
    }
    return *stub;
  }

  runtime::EventLoop& loop;
  const std::shared_ptr<transport::Credentials> credentials;
  absl::btree_map<std::string, std::unique_ptr<v1::Peer::Stub>> stubs;
};

PeerClient::PeerClient(runtime::EventLoop& loop,
                       std::shared_ptr<transport::Credentials> credentials)
    : connections_(
          std::make_shared<Connections>(loop, std::move(credentials))) {}

PeerClient::~PeerClient() = default;

void PeerClient::AgreeCut(const std::string& address,
                          v1::AgreeCutRequest request, Done done) {
  StartUnaryCall(connections_->To(address).async(),
                 &v1::Peer::Stub::async::AgreeCut, std::move(request), kAsk,
                 connections_->loop, std::weak_ptr<Connections>(connections_),
                 std::move(done));
}

}  // namespace skerry::worker
