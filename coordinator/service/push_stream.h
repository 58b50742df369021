// coordinator/service/push_stream.h
//
// Sends a stream of messages to an operator, driven from the loop.
#ifndef SKERRY_COORDINATOR_SERVICE_PUSH_STREAM_H_
#define SKERRY_COORDINATOR_SERVICE_PUSH_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "coordinator/service/grpc_status.h"
#include "runtime/event_loop.h"

namespace skerry::coordinator {

// Called on the loop.
class PushStreamOwner {
 public:
  virtual ~PushStreamOwner() = default;
  // The message has left.
  virtual void OnReady(uint64_t stream) = 0;
  // The caller has left.
  virtual void OnCancelled(uint64_t stream) = 0;
  // gRPC is done with the object, which may be destroyed.
  virtual void OnDone(uint64_t stream) = 0;
};

// Created on a gRPC thread, then used on the loop alone. Holds one message.
template <typename Message>
class PushStream final : public grpc::ServerWriteReactor<Message> {
 public:
  // `owner` and `loop` outlive the stream; `context` is its call's.
  PushStream(uint64_t id, runtime::EventLoop& loop, PushStreamOwner& owner,
             grpc::CallbackServerContext& context)
      : id_(id), loop_(loop), owner_(owner), context_(context) {}

  bool ready() const { return !writing_ && !finish_.has_value(); }
  // Requires ready().
  void Send(Message message) {
    SKERRY_CHECK(ready());
    outgoing_ = std::move(message);
    writing_ = true;
    this->StartWrite(&outgoing_);
  }
  // The first call counts; waits for the message that is on its way.
  void Finish(const absl::Status& status) {
    if (finish_.has_value()) return;
    finish_ = status;
    if (!writing_) grpc::ServerWriteReactor<Message>::Finish(ToGrpc(status));
  }

  // Ends the stream when the server stops. It does not wait for a caller who
  // does not read, who then gets CANCELLED.
  void Close(const absl::Status& status) {
    Finish(status);
    if (!writing_) return;
    loop_.RunAt(loop_.Now() + kReaderPatience,
                [this, alive = std::weak_ptr<char>(alive_)] {
                  // While it writes, its call has not ended.
                  if (!alive.expired() && writing_) context_.TryCancel();
                });
  }

  void OnWriteDone(bool) override {
    loop_.Post([this] { Written(); });
  }
  void OnCancel() override {
    loop_.Post([&owner = owner_, id = id_] { owner.OnCancelled(id); });
  }
  void OnDone() override {
    loop_.Post([&owner = owner_, id = id_] { owner.OnDone(id); });
  }

 private:
  // How long a message to somebody who reads may be on its way.
  static constexpr absl::Duration kReaderPatience = absl::Milliseconds(200);

  void Written() {
    writing_ = false;
    if (finish_.has_value()) {
      grpc::ServerWriteReactor<Message>::Finish(ToGrpc(*finish_));
    } else {
      owner_.OnReady(id_);
    }
  }

  const uint64_t id_;
  runtime::EventLoop& loop_;
  PushStreamOwner& owner_;
  grpc::CallbackServerContext& context_;
  // Belongs to gRPC while `writing_`.
  Message outgoing_;
  bool writing_ = false;
  std::optional<absl::Status> finish_;
  // Timers that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_PUSH_STREAM_H_
