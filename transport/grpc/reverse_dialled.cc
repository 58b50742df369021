#include "transport/grpc/reverse_dialled.h"

#include <mutex>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "transport/fetch_wire.h"

namespace skerry::transport {

ReverseIntake::ReverseIntake(std::shared_ptr<BulkCallState> state,
                             OpenCalls& open_calls, std::string peer, int index,
                             DialledEvents& events)
    : FrameIntake(std::move(state), open_calls, std::move(peer)),
      events_(&events) {
  context_.AddMetadata(kStreamKey, absl::StrCat(index));
}

void ReverseIntake::OnEnd(const absl::Status& why) {
  EndIntake();
  state_->loop.Post([call = self(), why] {
    if (call->events_ != nullptr) call->events_->OnOver(why);
  });
}

void ReverseIntake::Close() {
  events_ = nullptr;
  End(absl::CancelledError("given up"));
}

// The handshake has asked whether the server is the worker that is meant.
absl::Status ReverseIntake::CheckPeer() {
  if (!server_.has_value()) {
    absl::StatusOr<Caller> server = CallerOf(*context_.auth_context());
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    const auto* const worker =
        server_->name.has_value()
            ? std::get_if<identity::WorkerName>(&server_->name->who)
            : nullptr;
    if (server_->name.has_value() &&
        (worker == nullptr || worker->worker != from_)) {
      return absl::UnauthenticatedError(
          absl::StrCat("the certificate of the peer is of ", Describe(*server_),
                       " and not of worker ", from_));
    }
  }
  return CheckBelieved(*state_->revocations, Describe(*server_),
                       server_->serial);
}

FetchAnswer::FetchAnswer(std::shared_ptr<BulkCallState> state,
                         OpenCalls& open_calls, std::string peer,
                         DialledEvents& events)
    : DialledCall(open_calls),
      state_(std::move(state)),
      peer_(std::move(peer)),
      events_(&events) {}

void FetchAnswer::OnEnd(const absl::Status& why) {
  state_->loop.Post([call = self(), why] {
    if (call->events_ != nullptr) call->events_->OnOver(why);
  });
}

void FetchAnswer::Close() {
  events_ = nullptr;
  End(absl::CancelledError("given up"));
}

void FetchAnswer::OnReadDone(bool ok) {
  if (!ok) return AwaitStatus();
  const auto bytes = MessageToBytes(message_);
  const absl::StatusOr<FetchKey> key =
      bytes.ok() ? DecodeFetchKey(*bytes) : bytes.status();
  if (!key.ok()) return End(key.status());
  key_ = *key;
  state_->loop.Post([call = self()] { call->AnswerKey(); });
}

void FetchAnswer::AnswerKey() {
  if (events_ != nullptr) events_->OnTaken();
  if (state_->inbox == nullptr) return;
  absl::StatusOr<Payload> object = state_->inbox->OnFetch(peer_, key_);
  if (object.ok()) {
    object_ = *std::move(object);
    pieces_ = FetchPieceCount(object_.size());
    return WriteNext();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (has_ended_) return;
  message_ = BytesToMessage(EncodeFetchRefusal(object.status()));
  StartWriteLast(&message_, grpc::WriteOptions());
}

void FetchAnswer::WriteNext() {
  grpc::ByteBuffer message =
      FrameToMessage(FetchPiece(key_, object_, next_piece_++));
  std::lock_guard<std::mutex> lock(mutex_);
  if (has_ended_) return;
  message_ = std::move(message);
  if (next_piece_ == pieces_) {
    StartWriteLast(&message_, grpc::WriteOptions());
  } else {
    StartWrite(&message_);
  }
}

// After the last one the peer ends the call.
void FetchAnswer::OnWriteDone(bool ok) {
  if (ok && next_piece_ < pieces_) WriteNext();
  if (!ok || next_piece_ == pieces_) AwaitStatus();
}

}  // namespace skerry::transport
