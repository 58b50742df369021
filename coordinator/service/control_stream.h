// coordinator/service/control_stream.h
//
// Runs one worker's control stream: Status messages come in, and Orders go out.
#ifndef SKERRY_COORDINATOR_SERVICE_CONTROL_STREAM_H_
#define SKERRY_COORDINATOR_SERVICE_CONTROL_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/service/cluster_shell.h"
#include "proto/skerry/v1/control.grpc.pb.h"
#include "protocol/orders.h"
#include "protocol/status_facts.h"
#include "runtime/event_loop.h"
#include "transport/grpc/caller.h"

namespace skerry::coordinator {

// What a stream asks of its owner, on the loop.
class ControlStreamOwner {
 public:
  virtual ~ControlStreamOwner() = default;
  // A Status that passed the checks of form. The owner calls Accepted() or
  // Finish() when it has been taken in; until then no other is read.
  virtual void OnStatus(uint64_t stream, StatusFacts status) = 0;
  // One that did not.
  virtual void OnBadStatus(uint64_t stream, const absl::Status& why) = 0;
  // The worker has closed the stream, or the connection is gone.
  virtual void OnClosed(uint64_t stream) = 0;
  // gRPC is done with the object, which may be destroyed.
  virtual void OnDone(uint64_t stream) = 0;
};

// Created on a gRPC thread. The methods below "loop" are called on the loop,
// where all state lives. It holds at most one Status and no Orders: when the
// stream can send, it asks for the newest Orders.
class ControlStream final
    : public grpc::ServerBidiReactor<v1::Status, v1::Orders>,
      public OrdersStream {
 public:
  // `owner` and `loop` outlive the stream. Orders above `orders_bytes_max` are
  // cut to fewer committed entries.
  ControlStream(uint64_t id, transport::Caller caller, std::string from,
                runtime::EventLoop& loop, ControlStreamOwner& owner,
                size_t orders_bytes_max);

  // Returns the owner of the connection's certificate; nobody in plaintext.
  const transport::Caller& caller() const { return caller_; }
  // Returns the other end's address, as gRPC writes it.
  const std::string& from() const { return from_; }

  // --- loop
  bool ready() const override { return !writing_ && !finish_.has_value(); }
  void Send(const Orders& orders) override;
  // Reads the next Status.
  void Accepted();
  // Ends the stream; the first call counts. Waits for the message that is on
  // its way.
  void Finish(const absl::Status& status);
  bool finished() const { return finish_.has_value(); }

  // Set by the owner once the worker has been accepted.
  struct Identity {
    std::string worker;
    Boot boot;
  };
  std::optional<Identity> identity;
  // Called on the loop when a message has left.
  void set_on_ready(absl::AnyInvocable<void()> on_ready) {
    on_ready_ = std::move(on_ready);
  }

  // --- gRPC
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;

 private:
  void Written();

  const uint64_t id_;
  const transport::Caller caller_;
  const std::string from_;
  runtime::EventLoop& loop_;
  ControlStreamOwner& owner_;
  const size_t orders_bytes_max_;
  // Belongs to gRPC from StartRead to OnReadDone, then to its thread until the
  // next StartRead.
  v1::Status incoming_;
  // Belongs to gRPC while `writing_`.
  v1::Orders outgoing_;
  bool writing_ = false;
  std::optional<absl::Status> finish_;
  absl::AnyInvocable<void()> on_ready_;
};

// Drops committed entries, the newest first and from the longest list, until
// `orders` has at most `bytes_max`; a worker gets the rest once it has reported
// the first. Errors: ResourceExhausted when that is not enough.
absl::Status BoundOrders(size_t bytes_max, v1::Orders* orders);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_CONTROL_STREAM_H_
