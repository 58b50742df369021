#include "worker/daemon/session_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "identity/x509/identity_folder.h"
#include "transport/grpc/plain_cause.h"

namespace skerry::worker {
namespace {

// Orders of a worker that comes back after a long absence hold many entries.
constexpr int kOrdersBytesMax = 64 << 20;

// How soon a connection that is back is seen.
constexpr absl::Duration kLookEvery = absl::Milliseconds(50);

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

// Lives from Open() until OnDone() has been handled on the loop. gRPC threads
// touch `orders_` between StartRead and OnReadDone only.
class SessionClient::Stream final
    : public grpc::ClientBidiReactor<v1::Status, v1::Orders> {
 public:
  Stream(SessionClient& client, v1::Control::Stub& stub) : client_(client) {
    stub.async()->Session(&context_, this);
    // Writes start on the loop, outside the reactions.
    AddHold();
    StartRead(&orders_);
    StartCall();
  }

  void Write(v1::Status status) {
    status_ = std::move(status);
    StartWrite(&status_);
  }

  void Cancel() { context_.TryCancel(); }

  // On the loop: no more writes.
  void LetGo() {
    if (std::exchange(held_, false)) RemoveHold();
  }

 private:
  void OnReadInitialMetadataDone(bool ok) override {
    if (!ok || !client_.options_.on_mark) return;
    const auto& metadata = context_.GetServerInitialMetadata();
    const auto found = metadata.find(identity::kMarkHeader);
    if (found == metadata.end()) return;
    client_.options_.on_mark(
        std::string(found->second.data(), found->second.size()));
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      client_.loop_.Post([this] { LetGo(); });
      return;
    }
    client_.loop_.Post(
        [this, orders = std::exchange(orders_, v1::Orders())]() mutable {
          client_.OnRead(std::move(orders));
        });
    StartRead(&orders_);
  }

  void OnWriteDone(bool ok) override {
    client_.loop_.Post([this, ok] { client_.OnWritten(ok); });
  }

  void OnDone(const grpc::Status& status) override {
    client_.loop_.Post(
        [this, status = absl::Status(
                   static_cast<absl::StatusCode>(status.error_code()),
                   transport::PlainCause(status.error_message()))] {
          client_.OnDone(status);
        });
  }

  SessionClient& client_;
  grpc::ClientContext context_;
  v1::Orders orders_;
  v1::Status status_;
  bool held_ = true;
};

SessionClient::SessionClient(SessionOptions options, runtime::EventLoop& loop,
                             OrdersHandler on_orders, EndHandler on_end)
    : options_(std::move(options)),
      loop_(loop),
      on_orders_(std::move(on_orders)),
      on_end_(std::move(on_end)),
      random_(options_.jitter_seed),
      channel_(options_.credentials->ChannelTo(
          options_.coordinator, transport::ServerKind::kCoordinator,
          ChannelArguments())),
      stub_(v1::Control::NewStub(channel_)),
      backoff_(options_.backoff_min) {}

SessionClient::~SessionClient() { SKERRY_CHECK(stream_ == nullptr); }

void SessionClient::Send(v1::Status status) {
  newest_ = std::move(status);
  if (shutting_down_) return;
  if (stream_ == nullptr && !waiting_) Open();
  Flush();
}

void SessionClient::Reopen() {
  if (stream_ == nullptr || std::exchange(reopening_, true)) return;
  stream_->Cancel();
}

void SessionClient::Shutdown(absl::AnyInvocable<void() &&> done) {
  shutting_down_ = true;
  on_shut_down_ = std::move(done);
  if (stream_ == nullptr) {
    std::move(on_shut_down_)();
    return;
  }
  stream_->Cancel();
}

void SessionClient::Open() {
  writing_ = false;
  stream_ = std::make_unique<Stream>(*this, *stub_);
}

void SessionClient::OpenAt(Instant when, bool connected) {
  const Instant look =
      connected ? when : std::min(when, loop_.Now() + kLookEvery);
  loop_.RunAt(
      look, [this, when, connected, alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired()) return;
        const bool came_back =
            !connected && !shutting_down_ &&
            channel_->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY;
        if (loop_.Now() < when && !came_back && !shutting_down_) {
          return OpenAt(when, connected);
        }
        waiting_ = false;
        if (shutting_down_ || stream_ != nullptr) return;
        Open();
        Flush();
      });
}

void SessionClient::Flush() {
  if (stream_ == nullptr || writing_ || reopening_ || !newest_.has_value()) {
    return;
  }
  writing_ = true;
  stream_->Write(*std::exchange(newest_, std::nullopt));
}

void SessionClient::OnRead(v1::Orders orders) {
  backoff_ = options_.backoff_min;
  lost_.reset();
  if (!shutting_down_ && !reopening_) on_orders_(std::move(orders));
}

void SessionClient::OnWritten(bool ok) {
  // After a failed write the stream is ending; OnDone follows.
  if (!ok) return;
  writing_ = false;
  Flush();
}

void SessionClient::OnDone(absl::Status status) {
  stream_.reset();
  writing_ = false;
  const bool asked = std::exchange(reopening_, false);
  if (shutting_down_) {
    std::move(on_shut_down_)();
    return;
  }
  const absl::Duration wait = backoff_ * (0.5 + 0.5 * random_.Uniform());
  backoff_ = std::min(2 * backoff_, options_.backoff_max);
  waiting_ = true;
  OpenAt(loop_.Now() + wait,
         channel_->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY);
  // The handler sends a fresh view; what waited is superseded by it.
  const bool repeated = std::exchange(lost_, status.code()) == status.code();
  on_end_({std::move(status), repeated, asked});
}

}  // namespace skerry::worker
