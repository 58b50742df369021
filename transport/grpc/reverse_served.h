// transport/grpc/reverse_served.h
//
// Calls that a worker which cannot be dialled has opened, for this worker to
// use as if it had opened them: one stream of frames to that worker, and one
// fetch from it.
#ifndef SKERRY_TRANSPORT_GRPC_REVERSE_SERVED_H_
#define SKERRY_TRANSPORT_GRPC_REVERSE_SERVED_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/bulk.h"
#include "transport/fetch_wire.h"
#include "transport/grpc/bulk_call_state.h"
#include "transport/grpc/caller.h"
#include "transport/grpc/open_calls.h"
#include "transport/grpc/served_call.h"
#include "transport/outbox.h"

namespace skerry::transport {

// Names the worker whose certificate opened a call.
struct ReversePeer {
  std::string worker;
  std::string certificate;  // the name in it; "nobody" without TLS
  std::string serial;
};

// Frames that go out.
class ReverseOutput final : public ServedCall<ReverseOutput> {
 public:
  ReverseOutput(std::shared_ptr<BulkCallState> state, OpenCalls& open_calls,
                std::string peer, int index, const Caller& caller);

  void OnBegin();
  void OnEnd();

  const ReversePeer& peer() const { return peer_; }
  int index() const { return index_; }
  // On the loop. The events come there from now on; null: no more of them.
  void Bind(StreamEvents* events) { events_ = events; }
  // On the loop.
  void Write(const Frame& frame);

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  absl::Status TakeAnswers();
  void Tell(absl::AnyInvocable<void(StreamEvents&) &&> tell);

  const std::shared_ptr<BulkCallState> state_;
  const ReversePeer peer_;
  const int index_;
  StreamEvents* events_ = nullptr;  // touched on the loop
  grpc::ByteBuffer answers_;
  grpc::ByteBuffer writing_;
  std::deque<grpc::ByteBuffer> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
};

// A fetch, or a call that waits for one.
class ReverseFetch final : public ServedCall<ReverseFetch> {
 public:
  ReverseFetch(std::shared_ptr<BulkCallState> state, OpenCalls& open_calls,
               std::string peer, const Caller& caller);

  void OnBegin();
  void OnEnd();

  const ReversePeer& peer() const { return peer_; }
  // On the loop, once. `done` runs there.
  void Ask(const PieceKey& key, BulkTransport::FetchDone done);
  // Any thread.
  uint64_t pieces_received() const { return pieces_received_; }

 private:
  void OnReadDone(bool ok) override;
  // Takes the message in. Returns whether another one is wanted.
  bool TakePiece();
  void Answer(absl::StatusOr<SharedBytes> object);

  const std::shared_ptr<BulkCallState> state_;
  const ReversePeer peer_;
  grpc::ByteBuffer message_;
  grpc::ByteBuffer key_;
  std::atomic<uint64_t> pieces_received_ = 0;
  // Both are set before the key is sent; then reactions have them. None before
  // Ask(), and no `done_` after the answer. The assembler is made under the
  // mutex, and afterwards it is the reactions' alone.
  std::optional<FetchAssembler> assembler_;
  BulkTransport::FetchDone done_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_REVERSE_SERVED_H_
