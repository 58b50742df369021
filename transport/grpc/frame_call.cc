#include "transport/grpc/frame_call.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/answer.h"
#include "transport/grpc/buffers.h"

namespace skerry::transport {

FrameCall::FrameCall(runtime::EventLoop& loop, StreamEvents& events,
                     OpenCalls& open_calls)
    : loop_(loop), open_calls_(open_calls), events_(&events) {}

std::shared_ptr<FrameCall> FrameCall::Start(
    const std::shared_ptr<grpc::Channel>& channel, const CallTarget& target,
    int stream_index, runtime::EventLoop& loop, StreamEvents& events,
    OpenCalls& open_calls) {
  std::shared_ptr<FrameCall> call(new FrameCall(loop, events, open_calls));
  call->self_ = call;
  open_calls.Add();
  call->context_.set_wait_for_ready(true);
  target.AddTo(call->context_);
  if (target.is_relayed()) {
    call->context_.AddMetadata(kStreamKey, absl::StrCat(stream_index));
  }
  grpc::GenericStub(channel).PrepareBidiStreamingCall(
      &call->context_, target.is_relayed() ? kRelayFramesMethod : kFramesMethod,
      grpc::StubOptions(), call.get());
  // Writes start outside of reactions, so the call must not end under them.
  call->AddHold();
  call->StartRead(&call->answers_);
  call->StartCall();
  return call;
}

void FrameCall::Write(const Frame& frame) {
  grpc::ByteBuffer message = FrameToMessage(frame);
  const runtime::MutexLock lock(mutex_);
  if (is_over_) return;
  if (is_writing_) {
    waiting_.push_back(std::move(message));
    return;
  }
  is_writing_ = true;
  writing_ = std::move(message);
  StartWrite(&writing_);
}

void FrameCall::Close() {
  events_ = nullptr;
  context_.TryCancel();
}

void FrameCall::Tell(absl::AnyInvocable<void(StreamEvents&) &&> tell) {
  loop_.Post([call = self_, tell = std::move(tell)]() mutable {
    if (call->events_ != nullptr) std::move(tell)(*call->events_);
  });
}

void FrameCall::OnReadDone(bool ok) {
  absl::StatusOr<std::vector<Answered>> answers = absl::DataLossError("");
  if (ok) {
    const auto bytes = MessageToBytes(answers_);
    if (bytes.ok()) answers = DecodeAnswers(*bytes);
  }
  if (answers.ok()) {
    Tell([answers = *std::move(answers)](StreamEvents& events) {
      events.OnAnswers(answers);
    });
    StartRead(&answers_);
    return;
  }
  // The stream has ended, or the peer talks nonsense and is left.
  if (ok) context_.TryCancel();
  {
    const runtime::MutexLock lock(mutex_);
    is_over_ = true;
    waiting_.clear();
  }
  RemoveHold();
}

void FrameCall::OnWriteDone(bool ok) {
  {
    const runtime::MutexLock lock(mutex_);
    is_writing_ = ok && !waiting_.empty() && !is_over_;
    if (is_writing_) {
      writing_ = std::move(waiting_.front());
      waiting_.pop_front();
      StartWrite(&writing_);
    }
  }
  if (ok) {
    Tell([](StreamEvents& events) { events.OnWritten(); });
  }
}

void FrameCall::OnDone(const grpc::Status& status) {
  const absl::Status why = status.ok()
                               ? absl::UnavailableError("the peer ended it")
                               : FromGrpc(status);
  Tell([why](StreamEvents& events) {
    // The outbox destroys the stream in this call.
    events.OnClosed(why);
  });
  OpenCalls& open_calls = open_calls_;
  // Others may still hold the call; if not, it ends here.
  { const std::shared_ptr<FrameCall> self = std::move(self_); }
  open_calls.Remove();
}

}  // namespace skerry::transport
