#include "transport/grpc/reverse_served.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/mutex.h"
#include "transport/answer.h"
#include "transport/grpc/buffers.h"
#include "transport/grpc/reverse_book.h"

namespace skerry::transport {
namespace {

ReversePeer PeerOf(std::string worker, const Caller& caller) {
  return {std::move(worker), Describe(caller), caller.serial};
}

}  // namespace

ReverseOutput::ReverseOutput(std::shared_ptr<BulkCallState> state,
                             OpenCalls& open_calls, std::string peer, int index,
                             const Caller& caller)
    : ServedCall(open_calls),
      state_(std::move(state)),
      peer_(PeerOf(std::move(peer), caller)),
      index_(index) {}

void ReverseOutput::OnBegin() {
  // First: nothing may be read once the loop has refused the call.
  StartRead(&answers_);
  state_->loop.Post([call = self()] {
    ReverseBook* const book = call->state_->reverse;
    const absl::Status taken =
        book == nullptr ? absl::UnavailableError("the worker is stopping")
                        : book->Take(call);
    if (!taken.ok()) call->End(taken);
  });
}

void ReverseOutput::OnEnd() {
  state_->loop.Post([call = self()] {
    if (call->state_->reverse != nullptr) call->state_->reverse->Lose(*call);
    if (call->events_ == nullptr) return;
    // The outbox destroys the stream in this call.
    call->events_->OnClosed(absl::UnavailableError(absl::StrCat(
        "worker ", call->peer_.worker, " or its connection has gone")));
  });
}

void ReverseOutput::Write(const Frame& frame) {
  grpc::ByteBuffer message = FrameToMessage(frame);
  const runtime::MutexLock lock(mutex_);
  if (has_ended_) return;
  if (is_writing_) {
    waiting_.push_back(std::move(message));
    return;
  }
  is_writing_ = true;
  writing_ = std::move(message);
  StartWrite(&writing_);
}

void ReverseOutput::OnWriteDone(bool ok) {
  {
    const runtime::MutexLock lock(mutex_);
    is_writing_ = ok && !waiting_.empty() && !has_ended_;
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

absl::Status ReverseOutput::TakeAnswers() {
  SKERRY_RETURN_IF_ERROR(
      CheckBelieved(*state_->revocations, peer_.certificate, peer_.serial));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                          MessageToBytes(answers_));
  SKERRY_ASSIGN_OR_RETURN(std::vector<Answered> answers, DecodeAnswers(bytes));
  Tell([answers = std::move(answers)](StreamEvents& events) {
    events.OnAnswers(answers);
  });
  return absl::OkStatus();
}

void ReverseOutput::OnReadDone(bool ok) {
  if (!ok) return End(absl::OkStatus());
  if (const absl::Status taken = TakeAnswers(); !taken.ok()) {
    return End(taken);
  }
  const runtime::MutexLock lock(mutex_);
  if (!has_ended_) StartRead(&answers_);
}

void ReverseOutput::Tell(absl::AnyInvocable<void(StreamEvents&) &&> tell) {
  state_->loop.Post([call = self(), tell = std::move(tell)]() mutable {
    if (call->events_ != nullptr) std::move(tell)(*call->events_);
  });
}

ReverseFetch::ReverseFetch(std::shared_ptr<BulkCallState> state,
                           OpenCalls& open_calls, std::string peer,
                           const Caller& caller)
    : ServedCall(open_calls),
      state_(std::move(state)),
      peer_(PeerOf(std::move(peer), caller)) {}

void ReverseFetch::OnBegin() {
  StartRead(&message_);
  state_->loop.Post([call = self()] {
    ReverseBook* const book = call->state_->reverse;
    const absl::Status taken =
        book == nullptr ? absl::UnavailableError("the worker is stopping")
                        : book->Take(call);
    if (!taken.ok()) call->End(taken);
  });
}

void ReverseFetch::Ask(const PieceKey& key, BulkTransport::FetchDone done) {
  {
    const runtime::MutexLock lock(mutex_);
    done_ = std::move(done);
    if (!has_ended_) {
      assembler_.emplace(key, state_->fetch_object_bytes_max);
      key_ = BytesToMessage(EncodeFetchKey(key));
      StartWrite(&key_);
      return;
    }
  }
  Answer(absl::UnavailableError("the fetch was cut off"));
}

bool ReverseFetch::TakePiece() {
  if (const absl::Status believed =
          CheckBelieved(*state_->revocations, peer_.certificate, peer_.serial);
      !believed.ok()) {
    Answer(believed);
    return false;
  }
  if (message_.Length() <= kFetchRefusalBytesMax) {
    const auto bytes = MessageToBytes(message_);
    if (const auto refused = DecodeFetchRefusal(
            bytes.ok() ? *bytes : std::vector<std::byte>())) {
      Answer(*refused);
      return false;
    }
  }
  const absl::StatusOr<Frame> piece = MessageToFrame(message_);
  const absl::Status taken =
      piece.ok() ? assembler_->Add(*piece) : piece.status();
  if (!taken.ok()) {
    Answer(taken);
    return false;
  }
  ++pieces_received_;
  if (!assembler_->IsWhole()) return true;
  Answer(assembler_->Finish());
  return false;
}

void ReverseFetch::OnReadDone(bool ok) {
  bool is_asked = false;
  {
    const runtime::MutexLock lock(mutex_);
    is_asked = assembler_.has_value();
  }
  if (!ok || !is_asked || !TakePiece()) {
    return End(ok && !is_asked
                   ? absl::InvalidArgumentError("nobody has asked for a piece")
                   : absl::OkStatus());
  }
  const runtime::MutexLock lock(mutex_);
  if (!has_ended_) StartRead(&message_);
}

void ReverseFetch::Answer(absl::StatusOr<SharedBytes> object) {
  BulkTransport::FetchDone done;
  {
    const runtime::MutexLock lock(mutex_);
    done = std::exchange(done_, nullptr);
  }
  if (done == nullptr) return;
  state_->loop.Post(
      [done = std::move(done), object = std::move(object)]() mutable {
        std::move(done)(std::move(object));
      });
}

void ReverseFetch::OnEnd() {
  Answer(absl::UnavailableError("the fetch made no progress or was ended"));
  state_->loop.Post([call = self()] {
    if (call->state_->reverse != nullptr) call->state_->reverse->Lose(*call);
  });
}

}  // namespace skerry::transport
