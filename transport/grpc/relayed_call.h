// transport/grpc/relayed_call.h
//
// One half of what a relay passes on: a call that one of two workers has opened
// here because it cannot dial the other. Once both have come, each message of
// one is written to the other. A call is read only after the message before has
// been written, so that one message a direction is kept, and a slow receiver
// slows its sender down.
#ifndef SKERRY_TRANSPORT_GRPC_RELAYED_CALL_H_
#define SKERRY_TRANSPORT_GRPC_RELAYED_CALL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "transport/grpc/bulk_call_state.h"
#include "transport/grpc/caller.h"
#include "transport/grpc/open_calls.h"
#include "transport/grpc/served_call.h"

namespace skerry::transport {

// What meets at a relay: one stream of frames, or fetches, from one worker to
// another.
struct RelayRoute {
  // Who sends frames or asks for objects, and who takes frames or gives them.
  std::string from;
  std::string to;
  // The number of the stream; kFetches for fetches, of which there are several.
  int stream = 0;

  static constexpr int kFetches = -1;
  bool is_fetch() const { return stream == kFetches; }
  friend auto operator<=>(const RelayRoute&, const RelayRoute&) = default;
};

class RelayedCall final : public ServedCall<RelayedCall> {
 public:
  // The side of the route that has opened the call.
  enum class Side { kFrom, kTo };

  RelayedCall(std::shared_ptr<BulkCallState> state, OpenCalls& open_calls,
              RelayRoute route, Side side, const Caller& caller);

  void OnBegin();
  void OnEnd();

  const RelayRoute& route() const { return route_; }
  Side side() const { return side_; }
  // The worker that has opened the call, and how its certificate describes it.
  const std::string& worker() const {
    return side_ == Side::kFrom ? route_.from : route_.to;
  }
  const std::string& certificate() const { return certificate_; }
  const std::string& serial() const { return serial_; }

  // On the loop. Begins to pass messages on between two calls that nobody has
  // spliced before. The end of one ends the other.
  static void Splice(const std::shared_ptr<RelayedCall>& a,
                     const std::shared_ptr<RelayedCall>& b);
  // On the loop.
  bool is_spliced() const { return is_spliced_; }

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  // The worker says nothing more.
  void OnReadsOver();
  // Returns whether the message was a holder's refusal, which has ended both.
  bool TakeRefusal();

  // False when the call is over already.
  bool Bind(const std::shared_ptr<RelayedCall>& partner);
  std::shared_ptr<RelayedCall> Partner();
  absl::Status Gone() const;
  void ReadNext();
  // Takes the message.
  void Write(grpc::ByteBuffer& message);

  const std::shared_ptr<BulkCallState> state_;
  const RelayRoute route_;
  const Side side_;
  const std::string certificate_;
  const std::string serial_;
  bool is_spliced_ = false;  // touched on the loop
  bool has_read_ = false;    // touched by reactions to reads
  grpc::ByteBuffer message_;
  grpc::ByteBuffer writing_;
  std::shared_ptr<RelayedCall> partner_ ABSL_GUARDED_BY(mutex_);
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_RELAYED_CALL_H_
