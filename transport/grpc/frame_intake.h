// transport/grpc/frame_intake.h
//
// The receiving end of one stream of frames, whichever side opened the call:
// frames go to the inbox, and its answers go back.
#ifndef SKERRY_TRANSPORT_GRPC_FRAME_INTAKE_H_
#define SKERRY_TRANSPORT_GRPC_FRAME_INTAKE_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/posix/mutex.h"
#include "transport/answer.h"
#include "transport/grpc/buffers.h"
#include "transport/grpc/bulk_call_state.h"
#include "transport/grpc/open_calls.h"
#include "transport/inbox.h"

namespace skerry::transport {

// `Base` is ServedCall or DialledCall.
template <typename Base>
class FrameIntake : public Base, public IncomingStream {
 public:
  void Answer(std::span<const Answered> answers) override {
    const runtime::MutexLock lock(this->mutex_);
    waiting_.insert(waiting_.end(), answers.begin(), answers.end());
    if (!is_writing_) WriteWaiting();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return OnReadsOver();
    if (const absl::Status good = CheckPeer(); !good.ok()) {
      return this->End(good);
    }
    const uint64_t ordinal = next_ordinal_++;
    const uint64_t bytes = message_.Length();
    absl::StatusOr<Frame> frame = MessageToFrame(message_);
    message_.Clear();
    OnLoop([this, ordinal, bytes,
            frame = std::move(frame)](Inbox& inbox) mutable {
      if (frame.ok()) {
        inbox.OnFrame(id_, ordinal, frame->header, std::move(frame->payload));
      } else {
        inbox.OnCorrupt(id_, ordinal);
      }
      OnHandled(bytes);
    });
    const runtime::MutexLock lock(this->mutex_);
    unhandled_bytes_ += bytes;
    wants_to_read_ = true;
    ReadIfRoom();
  }

  void OnWriteDone(bool ok) override {
    const runtime::MutexLock lock(this->mutex_);
    is_writing_ = false;
    if (ok && !waiting_.empty()) WriteWaiting();
  }

 protected:
  // `from` sends the frames.
  FrameIntake(std::shared_ptr<BulkCallState> state, OpenCalls& open_calls,
              std::string from)
      : Base(open_calls), state_(std::move(state)), from_(std::move(from)) {}

  void BeginIntake() {
    OnLoop([this](Inbox& inbox) { id_ = inbox.OnOpened(from_, *this); });
    this->StartRead(&message_);
  }
  void EndIntake() {
    OnLoop([this](Inbox& inbox) { inbox.OnClosed(id_); });
  }
  // The peer sends nothing more.
  virtual void OnReadsOver() = 0;
  // Asked for each frame, because the stream may have begun long before.
  virtual absl::Status CheckPeer() = 0;

  const std::shared_ptr<BulkCallState> state_;
  const std::string from_;

 private:
  void OnLoop(absl::AnyInvocable<void(Inbox&) &&> task) {
    state_->loop.Post([call = this->self(), state = state_,
                       task = std::move(task)]() mutable {
      if (state->inbox != nullptr) std::move(task)(*state->inbox);
    });
  }
  void OnHandled(uint64_t bytes) {
    const runtime::MutexLock lock(this->mutex_);
    unhandled_bytes_ -= bytes;
    ReadIfRoom();
  }
  void ReadIfRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (!wants_to_read_ || this->has_ended_) return;
    // It may have been handled, and taken off, before it was added.
    if (static_cast<int64_t>(unhandled_bytes_) >
        static_cast<int64_t>(state_->unhandled_bytes_max)) {
      return;
    }
    wants_to_read_ = false;
    this->StartRead(&message_);
  }
  void WriteWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (this->has_ended_) return;
    is_writing_ = true;
    answers_ = BytesToMessage(EncodeAnswers(waiting_));
    waiting_.clear();
    this->StartWrite(&answers_);
  }

  Inbox::StreamId id_ = 0;  // touched on the loop
  uint64_t next_ordinal_ = 0;
  grpc::ByteBuffer message_;
  grpc::ByteBuffer answers_;

  std::vector<Answered> waiting_ ABSL_GUARDED_BY(this->mutex_);
  bool is_writing_ ABSL_GUARDED_BY(this->mutex_) = false;
  bool wants_to_read_ ABSL_GUARDED_BY(this->mutex_) = false;
  uint64_t unhandled_bytes_ ABSL_GUARDED_BY(this->mutex_) = 0;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_FRAME_INTAKE_H_
