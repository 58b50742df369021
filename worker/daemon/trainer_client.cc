#include "worker/daemon/trainer_client.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/grpc/credentials.h"
#include "worker/daemon/unary_call.h"

namespace skerry::worker {
namespace {

// Descriptions have files of up to 16 MiB in them, and tables of tensors.
constexpr int kReplyBytesMax = 64 << 20;

constexpr UnaryCallOptions kCall{};
// A trainer that is starting has no socket yet.
constexpr UnaryCallOptions kStart{.deadline = std::nullopt,
                                  .wait_for_ready = true};

}  // namespace

struct TrainerClient::Connection {
  Connection(const std::string& socket_path, runtime::EventLoop& event_loop)
      : loop(event_loop) {
    grpc::ChannelArguments arguments;
    // A trainer that is starting has no socket yet.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
    // Two trainers on one path in turn must not share a connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    arguments.SetMaxReceiveMessageSize(kReplyBytesMax);
    stub = v1::Trainer::NewStub(transport::Credentials::Plaintext()->ChannelTo(
        absl::StrCat("unix:", socket_path), transport::ServerKind::kWorker,
        arguments));
  }

  runtime::EventLoop& loop;
  std::unique_ptr<v1::Trainer::Stub> stub;
  // The newest call that waits for the trainer to start.
  std::weak_ptr<grpc::ClientContext> starting;
};

TrainerClient::TrainerClient(const std::string& socket_path,
                             runtime::EventLoop& loop)
    : connection_(std::make_shared<Connection>(socket_path, loop)) {}

TrainerClient::~TrainerClient() {
  // A trainer that has ended before it had a socket ends no call. Its channel
  // would try to connect for as long as this process lives.
  if (const auto context = connection_->starting.lock()) context->TryCancel();
}

void TrainerClient::Describe(v1::DescribeRequest request,
                             Done<v1::DescribeReply> done) {
  connection_->starting = StartUnaryCall(
      connection_->stub->async(), &v1::Trainer::Stub::async::Describe,
      std::move(request), kStart, connection_->loop,
      std::weak_ptr<Connection>(connection_), std::move(done));
}

void TrainerClient::Run(v1::RunRequest request, Done<v1::RunReply> done) {
  StartUnaryCall(connection_->stub->async(), &v1::Trainer::Stub::async::Run,
                 std::move(request), kCall, connection_->loop,
                 std::weak_ptr<Connection>(connection_), std::move(done));
}

void TrainerClient::Snapshot(v1::SnapshotRequest request,
                             Done<v1::SnapshotReply> done) {
  StartUnaryCall(connection_->stub->async(),
                 &v1::Trainer::Stub::async::Snapshot, std::move(request), kCall,
                 connection_->loop, std::weak_ptr<Connection>(connection_),
                 std::move(done));
}

void TrainerClient::Load(v1::LoadRequest request, Done<v1::LoadReply> done) {
  StartUnaryCall(connection_->stub->async(), &v1::Trainer::Stub::async::Load,
                 std::move(request), kCall, connection_->loop,
                 std::weak_ptr<Connection>(connection_), std::move(done));
}

void TrainerClient::OpenGroup(v1::OpenGroupRequest request,
                              Done<v1::OpenGroupReply> done) {
  StartUnaryCall(connection_->stub->async(),
                 &v1::Trainer::Stub::async::OpenGroup, std::move(request),
                 kCall, connection_->loop,
                 std::weak_ptr<Connection>(connection_), std::move(done));
}

void TrainerClient::Group(v1::GroupRequest request, Done<v1::GroupReply> done) {
  StartUnaryCall(connection_->stub->async(), &v1::Trainer::Stub::async::Group,
                 std::move(request), kCall, connection_->loop,
                 std::weak_ptr<Connection>(connection_), std::move(done));
}

void TrainerClient::Evaluate(v1::EvaluateRequest request,
                             Done<v1::EvaluateReply> done) {
  StartUnaryCall(connection_->stub->async(),
                 &v1::Trainer::Stub::async::Evaluate, std::move(request), kCall,
                 connection_->loop, std::weak_ptr<Connection>(connection_),
                 std::move(done));
}

void TrainerClient::Generate(v1::GenerateRequest request,
                             Done<v1::GenerateReply> done) {
  StartUnaryCall(connection_->stub->async(),
                 &v1::Trainer::Stub::async::Generate, std::move(request), kCall,
                 connection_->loop, std::weak_ptr<Connection>(connection_),
                 std::move(done));
}

void TrainerClient::SaveInner(v1::SaveInnerRequest request,
                              Done<v1::SaveInnerReply> done) {
  StartUnaryCall(connection_->stub->async(),
                 &v1::Trainer::Stub::async::SaveInner, std::move(request),
                 kCall, connection_->loop,
                 std::weak_ptr<Connection>(connection_), std::move(done));
}

void TrainerClient::LoadInner(v1::LoadInnerRequest request,
                              Done<v1::LoadInnerReply> done) {
  StartUnaryCall(connection_->stub->async(),
                 &v1::Trainer::Stub::async::LoadInner, std::move(request),
                 kCall, connection_->loop,
                 std::weak_ptr<Connection>(connection_), std::move(done));
}

void TrainerClient::Pause(Done<v1::PauseReply> done) {
  StartUnaryCall(connection_->stub->async(), &v1::Trainer::Stub::async::Pause,
                 v1::PauseRequest(), kCall, connection_->loop,
                 std::weak_ptr<Connection>(connection_), std::move(done));
}

void TrainerClient::Progress(Done<v1::ProgressReply> done) {
  StartUnaryCall(connection_->stub->async(),
                 &v1::Trainer::Stub::async::Progress, v1::ProgressRequest(),
                 kCall, connection_->loop,
                 std::weak_ptr<Connection>(connection_), std::move(done));
}

void TrainerClient::Exit(Done<v1::ExitReply> done) {
  StartUnaryCall(connection_->stub->async(), &v1::Trainer::Stub::async::Exit,
                 v1::ExitRequest(), kCall, connection_->loop,
                 std::weak_ptr<Connection>(connection_), std::move(done));
}

}  // namespace skerry::worker
