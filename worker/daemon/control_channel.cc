#include "worker/daemon/control_channel.h"

#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>

#include "base/check.h"
#include "identity/x509/identity_folder.h"
#include "protocol/convert/orders.h"
#include "protocol/convert/status.h"
#include "transport/grpc/plain_cause.h"

namespace skerry::worker {
namespace {

// Orders of a worker that comes back after a long absence hold many entries.
constexpr int kOrdersBytesMax = 64 << 20;

grpc::ChannelArguments ChannelArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
  // In this library also how long the kernel sends again what has no
  // acknowledgement (TCP_USER_TIMEOUT). TCP doubles its waits, so an outage
  // would cost up to twice its length, and a short one a worker's lease. A new
  // connection is made at once when the outage is over.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 1000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  // In this library also the limit of one attempt to connect, which takes three
  // round trips with TLS.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetMaxReceiveMessageSize(kOrdersBytesMax);
  return arguments;
}

}  // namespace

// Lives from Open() until its end has been handled on the loop. gRPC threads
// touch `orders_` between StartRead and OnReadDone only.
class ControlChannel::Stream final
    : public grpc::ClientBidiReactor<v1::Status, v1::Orders> {
 public:
  Stream(ControlChannel& channel, Events& events)
      : channel_(channel), events_(events) {
    channel_.stub_->async()->Session(&context_, this);
    // Writes start on the loop, outside the reactions.
    AddHold();
    StartRead(&orders_);
    StartCall();
  }

  void Write(const protocol::StatusFacts& status) {
    StatusToProto(status, &status_);
    StartWrite(&status_);
  }

  void Cancel() { context_.TryCancel(); }

  // On the loop: no more writes.
  void LetGo() {
    if (std::exchange(held_, false)) RemoveHold();
  }

 private:
  void OnReadInitialMetadataDone(bool ok) override {
    if (!ok || !channel_.options_.on_mark) return;
    const auto& metadata = context_.GetServerInitialMetadata();
    const auto found = metadata.find(identity::kMarkHeader);
    if (found == metadata.end()) return;
    channel_.options_.on_mark(
        std::string(found->second.data(), found->second.size()));
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      channel_.loop_.Post([this] { LetGo(); });
      return;
    }
    channel_.loop_.Post(
        [this, heard = protocol::OrdersFromProto(orders_)]() mutable {
          events_.OnOrders(std::move(heard));
        });
    StartRead(&orders_);
  }

  void OnWriteDone(bool ok) override {
    // After a failed write the stream is ending; OnDone follows.
    if (!ok) return;
    channel_.loop_.Post([this] { events_.OnWritten(); });
  }

  void OnDone(const grpc::Status& status) override {
    channel_.loop_.Post(
        [this, status = absl::Status(
                   static_cast<absl::StatusCode>(status.error_code()),
                   transport::PlainCause(status.error_message()))] {
          Events& events = events_;
          channel_.stream_.reset();
          events.OnEnd(status);
        });
  }

  ControlChannel& channel_;
  Events& events_;
  grpc::ClientContext context_;
  v1::Orders orders_;
  v1::Status status_;
  bool held_ = true;
};

ControlChannel::ControlChannel(ControlChannelOptions options,
                               runtime::EventLoop& loop)
    : options_(std::move(options)),
      loop_(loop),
      channel_(options_.credentials->ChannelTo(
          options_.coordinator, transport::ServerKind::kCoordinator,
          ChannelArguments())),
      stub_(v1::Control::NewStub(channel_)) {}

ControlChannel::~ControlChannel() { SKERRY_CHECK(stream_ == nullptr); }

void ControlChannel::Open(Events& events) {
  stream_ = std::make_unique<Stream>(*this, events);
}

void ControlChannel::Write(const protocol::StatusFacts& status) {
  stream_->Write(status);
}

void ControlChannel::Cancel() { stream_->Cancel(); }

bool ControlChannel::IsConnected() {
  return channel_->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY;
}

}  // namespace skerry::worker
