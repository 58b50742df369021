#include "transport/grpc/fetch_call.h"

#include <utility>

#include "base/status.h"
#include "transport/grpc/buffers.h"

namespace skerry::transport {

FetchCall::FetchCall(const PieceKey& key, uint64_t object_bytes_max,
                     runtime::EventLoop& loop, OpenCalls& open_calls,
                     BulkTransport::FetchDone done)
    : loop_(loop),
      open_calls_(open_calls),
      done_(std::move(done)),
      request_(BytesToMessage(EncodeFetchKey(key))),
      assembler_(key, object_bytes_max) {}

std::shared_ptr<FetchCall> FetchCall::Start(
    const std::shared_ptr<grpc::Channel>& channel, const CallTarget& target,
    const PieceKey& key, uint64_t object_bytes_max, runtime::EventLoop& loop,
    OpenCalls& open_calls, BulkTransport::FetchDone done) {
  std::shared_ptr<FetchCall> call(
      new FetchCall(key, object_bytes_max, loop, open_calls, std::move(done)));
  call->self_ = call;
  open_calls.Add();
  call->is_relayed_ = target.is_relayed();
  target.AddTo(call->context_);
  grpc::GenericStub(channel).PrepareBidiStreamingCall(
      &call->context_, target.is_relayed() ? kRelayFetchMethod : kFetchMethod,
      grpc::StubOptions(), call.get());
  call->StartWriteLast(&call->request_, grpc::WriteOptions());
  call->StartRead(&call->piece_);
  call->StartCall();
  return call;
}

void FetchCall::OnReadDone(bool ok) {
  if (!ok) return;
  const absl::StatusOr<Frame> piece = MessageToFrame(piece_);
  refused_ = piece.ok() ? assembler_.Add(*piece) : piece.status();
  if (!refused_.ok()) {
    context_.TryCancel();
    return;
  }
  ++pieces_received_;
  StartRead(&piece_);
}

absl::StatusOr<SharedBytes> FetchCall::Outcome(const grpc::Status& status) {
  if (!refused_.ok()) return refused_;
  // A relay does not see whether the holder has said all or is gone.
  if (status.ok() && is_relayed_ && !assembler_.IsWhole()) {
    return absl::UnavailableError("the fetch was cut off behind the relay");
  }
  if (status.ok()) return assembler_.Finish();
  if (status.error_code() == grpc::StatusCode::CANCELLED) {
    return absl::UnavailableError("the fetch made no progress or was ended");
  }
  return FromGrpc(status);
}

void FetchCall::OnDone(const grpc::Status& status) {
  absl::StatusOr<SharedBytes> object = Outcome(status);
  loop_.Post([done = std::move(done_), object = std::move(object)]() mutable {
    std::move(done)(std::move(object));
  });
  OpenCalls& open_calls = open_calls_;
  { const std::shared_ptr<FetchCall> self = std::move(self_); }
  open_calls.Remove();
}

}  // namespace skerry::transport
