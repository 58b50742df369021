// transport/grpc/reverse_dialled.h
//
// Calls that this worker opens because its peer cannot dial it: one stream on
// which the peer sends frames, and one fetch that the peer may make. They go to
// the peer or, if it cannot be dialled either, to the relay between the two.
#ifndef SKERRY_TRANSPORT_GRPC_REVERSE_DIALLED_H_
#define SKERRY_TRANSPORT_GRPC_REVERSE_DIALLED_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "transport/bulk.h"
#include "transport/grpc/bulk_call_state.h"
#include "transport/grpc/caller.h"
#include "transport/grpc/dialled_call.h"
#include "transport/grpc/frame_intake.h"
#include "transport/grpc/open_calls.h"

namespace skerry::transport {

// What becomes of a call, for whoever opened it. It comes on the loop, until
// the call is closed.
class DialledEvents {
 public:
  virtual ~DialledEvents() = default;
  // The peer uses the call: for more than one fetch it needs another.
  virtual void OnTaken() = 0;
  // The call is over; nothing follows.
  virtual void OnOver(const absl::Status& why) = 0;
};

// The owner's end of a call.
class DialledHandle {
 public:
  virtual ~DialledHandle() = default;
  // On the loop or after it has stopped. Ends the call; no event follows.
  virtual void Close() = 0;
};

// Who uses a call that this worker opens.
struct DialledPeer {
  std::string worker;
  std::string relay;  // empty: the call goes to the worker itself

  // Names the worker whose certificate the server has to show.
  const std::string& server() const { return relay.empty() ? worker : relay; }
};

// Frames that come in.
class ReverseIntake final : public FrameIntake<DialledCall<ReverseIntake>>,
                            public DialledHandle {
 public:
  // `peer` sends the frames.
  ReverseIntake(std::shared_ptr<BulkCallState> state, OpenCalls& open_calls,
                const DialledPeer& peer, int index, DialledEvents& events);

  void OnBegin() { BeginIntake(); }
  void OnEnd(const absl::Status& why);
  void Close() override;

 private:
  void OnReadsOver() override { AwaitStatus(); }
  absl::Status CheckPeer() override;

  const std::string server_name_;
  DialledEvents* events_;         // touched on the loop
  std::optional<Caller> server_;  // once something has come
};

// A fetch that the peer may make.
class FetchAnswer final : public DialledCall<FetchAnswer>,
                          public DialledHandle {
 public:
  FetchAnswer(std::shared_ptr<BulkCallState> state, OpenCalls& open_calls,
              DialledPeer peer, DialledEvents& events);

  void OnBegin() { StartRead(&message_); }
  void OnEnd(const absl::Status& why);
  void Close() override;

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  // Both on the loop. `self` owns this object.
  void AnswerKey(const std::shared_ptr<FetchAnswer>& self);
  void Give(absl::StatusOr<SharedBytes> object);
  void WriteNext();

  const std::shared_ptr<BulkCallState> state_;
  const DialledPeer peer_;
  DialledEvents* events_;  // touched on the loop
  // The peer has shown the certificate of a worker. Set with the key.
  bool peer_is_worker_ = false;
  PieceKey key_;
  SharedBytes object_;
  uint32_t next_piece_ = 0;
  uint32_t pieces_ = 0;
  grpc::ByteBuffer message_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_REVERSE_DIALLED_H_
