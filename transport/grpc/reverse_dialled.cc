#include "transport/grpc/reverse_dialled.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/mutex.h"
#include "transport/fetch_wire.h"

namespace skerry::transport {
namespace {

// Whether what the peer asks and sends may be believed. `server` is who it is,
// and is looked up the first time. Errors: Unauthenticated, the server's
// certificate is of somebody else, or is revoked.
absl::Status CheckPeerOf(const grpc::AuthContext& context,
                         const std::string& peer,
                         const Revocations& revocations,
                         std::optional<Caller>& server) {
  if (!server.has_value()) {
    SKERRY_ASSIGN_OR_RETURN(Caller found, CallerOf(context));
    const auto* const worker =
        found.name.has_value()
            ? std::get_if<identity::WorkerName>(&found.name->who)
            : nullptr;
    if (found.name.has_value() &&
        (worker == nullptr || worker->worker != peer)) {
      return absl::UnauthenticatedError(
          absl::StrCat("the certificate of the peer is of ", Describe(found),
                       " and not of worker ", peer));
    }
    server = std::move(found);
  }
  return CheckBelieved(revocations, Describe(*server), server->serial);
}

}  // namespace

ReverseIntake::ReverseIntake(std::shared_ptr<BulkCallState> state,
                             OpenCalls& open_calls, const DialledPeer& peer,
                             int index, DialledEvents& events)
    : FrameIntake(std::move(state), open_calls, peer.worker),
      server_name_(peer.server()),
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
  return CheckPeerOf(*context_.auth_context(), server_name_,
                     *state_->revocations, server_);
}

FetchAnswer::FetchAnswer(std::shared_ptr<BulkCallState> state,
                         OpenCalls& open_calls, DialledPeer peer,
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
  const absl::StatusOr<PieceKey> key =
      bytes.ok() ? DecodeFetchKey(*bytes) : bytes.status();
  if (!key.ok()) return End(key.status());
  key_ = *key;
  std::optional<Caller> server;
  const absl::Status believed = CheckPeerOf(
      *context_.auth_context(), peer_.server(), *state_->revocations, server);
  if (!believed.ok()) return End(believed);
  peer_is_worker_ = server->name.has_value();
  state_->loop.Post([call = self()] { call->AnswerKey(call); });
}

void FetchAnswer::AnswerKey(const std::shared_ptr<FetchAnswer>& self) {
  if (events_ != nullptr) events_->OnTaken();
  if (state_->inbox == nullptr) return;
  state_->inbox->OnFetch({peer_.worker, peer_is_worker_}, key_,
                         [call = self](absl::StatusOr<SharedBytes> object) {
                           call->Give(std::move(object));
                         });
}

void FetchAnswer::Give(absl::StatusOr<SharedBytes> object) {
  if (object.ok()) {
    object_ = *std::move(object);
    pieces_ = FetchPieceCount(object_.size());
    return WriteNext();
  }
  const runtime::MutexLock lock(mutex_);
  if (has_ended_) return;
  message_ = BytesToMessage(EncodeFetchRefusal(object.status()));
  StartWriteLast(&message_, grpc::WriteOptions());
}

void FetchAnswer::WriteNext() {
  grpc::ByteBuffer message =
      FrameToMessage(FetchPiece(key_, object_, next_piece_++));
  const runtime::MutexLock lock(mutex_);
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
