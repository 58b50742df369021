#include "transport/grpc/relayed_call.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/posix/mutex.h"
#include "transport/fetch_wire.h"
#include "transport/grpc/buffers.h"
#include "transport/grpc/relay_book.h"

namespace skerry::transport {

RelayedCall::RelayedCall(std::shared_ptr<BulkCallState> state,
                         OpenCalls& open_calls, RelayRoute route, Side side,
                         const Caller& caller)
    : ServedCall(open_calls),
      state_(std::move(state)),
      route_(std::move(route)),
      side_(side),
      certificate_(Describe(caller)),
      serial_(caller.serial) {}

// Nothing is read before the other half has come.
void RelayedCall::OnBegin() {
  state_->loop.Post([call = self()] {
    RelayBook* const book = call->state_->relay;
    const absl::Status taken =
        book == nullptr ? absl::UnavailableError("the relay is stopping")
                        : book->Take(call);
    if (!taken.ok()) call->End(taken);
  });
}

void RelayedCall::OnEnd() {
  std::shared_ptr<RelayedCall> partner;
  {
    const runtime::MutexLock lock(mutex_);
    is_over_ = true;
    partner = std::exchange(partner_, nullptr);
  }
  if (partner != nullptr) partner->End(Gone());
  state_->loop.Post([call = self()] {
    if (call->state_->relay != nullptr) call->state_->relay->Lose(*call);
  });
}

void RelayedCall::Splice(const std::shared_ptr<RelayedCall>& a,
                         const std::shared_ptr<RelayedCall>& b) {
  a->is_spliced_ = b->is_spliced_ = true;
  // One may be over although the book has not heard of it yet.
  if (!a->Bind(b)) return b->End(a->Gone());
  if (!b->Bind(a)) return a->End(b->Gone());
  a->ReadNext();
  b->ReadNext();
}

bool RelayedCall::Bind(const std::shared_ptr<RelayedCall>& partner) {
  const runtime::MutexLock lock(mutex_);
  if (is_over_) return false;
  partner_ = partner;
  return true;
}

std::shared_ptr<RelayedCall> RelayedCall::Partner() {
  const runtime::MutexLock lock(mutex_);
  return partner_;
}

absl::Status RelayedCall::Gone() const {
  return absl::UnavailableError(
      absl::StrCat("worker ", worker(), " or its connection has gone"));
}

void RelayedCall::ReadNext() {
  const runtime::MutexLock lock(mutex_);
  if (!has_ended_) StartRead(&message_);
}

void RelayedCall::Write(grpc::ByteBuffer& message) {
  const runtime::MutexLock lock(mutex_);
  if (has_ended_) return;
  writing_.Clear();
  writing_.Swap(&message);
  StartWrite(&writing_);
}

void RelayedCall::OnReadDone(bool ok) {
  if (!ok) return OnReadsOver();
  has_read_ = true;
  if (const absl::Status believed =
          CheckBelieved(*state_->revocations, certificate_, serial_);
      !believed.ok()) {
    return End(believed);
  }
  if (TakeRefusal()) return;
  // Without one the other half has ended, and this one ends with it.
  if (const auto partner = Partner()) partner->Write(message_);
}

// A holder cannot send a status, and the asker waits for one.
bool RelayedCall::TakeRefusal() {
  if (!route_.is_fetch() || side_ != Side::kTo ||
      message_.Length() > kFetchRefusalBytesMax) {
    return false;
  }
  const auto bytes = MessageToBytes(message_);
  const std::optional<absl::Status> refusal =
      DecodeFetchRefusal(bytes.ok() ? *bytes : std::vector<std::byte>());
  if (!refusal.has_value()) return false;
  if (const auto partner = Partner()) partner->End(*refusal);
  End(absl::OkStatus());
  return true;
}

void RelayedCall::OnReadsOver() {
  // An asker says no more than its key.
  if (route_.is_fetch() && side_ == Side::kFrom && has_read_) return;
  // A holder has said all, or is gone, which the asker finds out.
  if (route_.is_fetch() && side_ == Side::kTo) {
    if (const auto partner = Partner()) partner->End(absl::OkStatus());
  }
  End(absl::OkStatus());
}

void RelayedCall::OnWriteDone(bool ok) {
  if (!ok) return End(absl::CancelledError("the worker has left"));
  if (const auto partner = Partner()) partner->ReadNext();
}

}  // namespace skerry::transport
