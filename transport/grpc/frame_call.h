// transport/grpc/frame_call.h
//
// The sender's end of one stream of frames.
#ifndef SKERRY_TRANSPORT_GRPC_FRAME_CALL_H_
#define SKERRY_TRANSPORT_GRPC_FRAME_CALL_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "runtime/event_loop.h"
#include "runtime/posix/mutex.h"
#include "transport/grpc/call_target.h"
#include "transport/grpc/open_calls.h"
#include "transport/outbox.h"

namespace skerry::transport {

// Owned by gRPC until it is done with the call, and by whoever holds a pointer.
class FrameCall final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // Waits for the connection as long as it takes. A relay is told the number of
  // the stream. Events run on `loop`, until Close(). Loop and `open_calls`
  // outlive the call.
  static std::shared_ptr<FrameCall> Start(
      const std::shared_ptr<grpc::Channel>& channel, const CallTarget& target,
      int stream_index, runtime::EventLoop& loop, StreamEvents& events,
      OpenCalls& open_calls);

  // On the loop.
  void Write(const Frame& frame);
  // On the loop or after it has stopped. No event runs afterwards.
  void Close();

 private:
  FrameCall(runtime::EventLoop& loop, StreamEvents& events,
            OpenCalls& open_calls);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;
  // Runs `tell` on the loop if events are still wanted then.
  void Tell(absl::AnyInvocable<void(StreamEvents&) &&> tell);

  runtime::EventLoop& loop_;
  OpenCalls& open_calls_;
  StreamEvents* events_;  // touched on the loop
  grpc::ClientContext context_;
  grpc::ByteBuffer answers_;
  grpc::ByteBuffer writing_;
  // gRPC's share in the ownership, until OnDone().
  std::shared_ptr<FrameCall> self_;

  runtime::Mutex mutex_;
  std::deque<grpc::ByteBuffer> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_FRAME_CALL_H_
