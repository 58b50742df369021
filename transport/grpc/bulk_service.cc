#include "transport/grpc/bulk_service.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/log.h"
#include "transport/fetch_wire.h"
#include "transport/grpc/buffers.h"
#include "transport/grpc/bulk_names.h"
#include "transport/grpc/caller.h"

namespace skerry::transport {
namespace {

using State = std::shared_ptr<BulkServiceState>;

// What all calls share: gRPC's part in the ownership, and ending once.
template <typename Call>
class ServedCall : public grpc::ServerGenericBidiReactor {
 public:
  // Hands a new call to gRPC.
  static grpc::ServerGenericBidiReactor* Begin(std::shared_ptr<Call> call) {
    Call* raw = call.get();
    raw->open_calls_.Add();
    raw->self_ = std::move(call);
    raw->OnBegin();
    return raw;
  }

 protected:
  explicit ServedCall(OpenCalls& open_calls) : open_calls_(open_calls) {}

  void OnCancel() override { End(absl::CancelledError("cancelled")); }
  void OnDone() override {
    static_cast<Call*>(this)->OnEnd();
    OpenCalls& open_calls = open_calls_;
    { const std::shared_ptr<Call> self = std::move(self_); }
    open_calls.Remove();
  }

  // Later calls do nothing; nor may anything be read or written after it.
  void End(const absl::Status& status) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (has_ended_) return;
      has_ended_ = true;
    }
    Finish(ToGrpc(status));
  }
  const std::shared_ptr<Call>& self() const { return self_; }

  std::mutex mutex_;
  bool has_ended_ = false;  // guarded by mutex_

 private:
  OpenCalls& open_calls_;
  std::shared_ptr<Call> self_;
};

// Frames that come in.
class FrameSink final : public ServedCall<FrameSink>, public IncomingStream {
 public:
  FrameSink(State state, OpenCalls& open_calls, std::string from,
            const Caller& caller)
      : ServedCall(open_calls),
        state_(std::move(state)),
        from_(std::move(from)),
        certificate_(Describe(caller)),
        serial_(caller.serial) {}

  void OnBegin() {
    OnLoop([this](Inbox& inbox) { id_ = inbox.OnOpened(from_, *this); });
    StartRead(&message_);
  }

  void Answer(std::span<const Answered> answers) override {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_.insert(waiting_.end(), answers.begin(), answers.end());
    if (!is_writing_) WriteWaiting();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return End(absl::OkStatus());
    // The stream may have begun before.
    if (state_->revocations->Contain(certificate_, serial_)) {
      return End(absl::UnauthenticatedError(
          absl::StrCat("the certificate of ", certificate_, " is revoked")));
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
    std::lock_guard<std::mutex> lock(mutex_);
    unhandled_bytes_ += bytes;
    wants_to_read_ = true;
    ReadIfRoom();
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    is_writing_ = false;
    if (ok && !waiting_.empty()) WriteWaiting();
  }

  void OnEnd() {
    OnLoop([this](Inbox& inbox) { inbox.OnClosed(id_); });
  }

 private:
  void OnLoop(absl::AnyInvocable<void(Inbox&) &&> task) {
    state_->loop.Post([call = self(), task = std::move(task)]() mutable {
      Inbox* const inbox = call->state_->inbox;
      if (inbox != nullptr) std::move(task)(*inbox);
    });
  }
  void OnHandled(uint64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    unhandled_bytes_ -= bytes;
    ReadIfRoom();
  }
  // Both: the caller holds mutex_.
  void ReadIfRoom() {
    if (!wants_to_read_ || has_ended_) return;
    // It may have been handled, and taken off, before it was added.
    if (static_cast<int64_t>(unhandled_bytes_) >
        static_cast<int64_t>(state_->unhandled_bytes_max)) {
      return;
    }
    wants_to_read_ = false;
    StartRead(&message_);
  }
  void WriteWaiting() {
    if (has_ended_) return;
    is_writing_ = true;
    answers_ = BytesToMessage(EncodeAnswers(waiting_));
    waiting_.clear();
    StartWrite(&answers_);
  }

  const State state_;
  const std::string from_;
  const std::string certificate_;  // the name in it
  const std::string serial_;
  Inbox::StreamId id_ = 0;  // touched on the loop
  uint64_t next_ordinal_ = 0;
  grpc::ByteBuffer message_;
  grpc::ByteBuffer answers_;

  // All below are guarded by mutex_.
  std::vector<Answered> waiting_;
  bool is_writing_ = false;
  bool wants_to_read_ = false;
  uint64_t unhandled_bytes_ = 0;
};

// One object that goes out.
class FetchServer final : public ServedCall<FetchServer> {
 public:
  FetchServer(State state, OpenCalls& open_calls, std::string from)
      : ServedCall(open_calls),
        state_(std::move(state)),
        from_(std::move(from)) {}

  void OnBegin() { StartRead(&message_); }
  void OnEnd() {}

  void OnReadDone(bool ok) override {
    if (!ok) return End(absl::InvalidArgumentError("no key was sent"));
    const auto bytes = MessageToBytes(message_);
    const absl::StatusOr<FetchKey> key =
        bytes.ok() ? DecodeFetchKey(*bytes) : bytes.status();
    if (!key.ok()) return End(key.status());
    key_ = *key;
    state_->loop.Post([call = self()] {
      Inbox* const inbox = call->state_->inbox;
      if (inbox == nullptr) return;
      absl::StatusOr<Payload> object = inbox->OnFetch(call->from_, call->key_);
      if (!object.ok()) return call->End(object.status());
      call->object_ = *std::move(object);
      call->WriteNext();
    });
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return End(absl::CancelledError("the peer has left"));
    if (next_piece_ == FetchPieceCount(object_.size())) {
      return End(absl::OkStatus());
    }
    WriteNext();
  }

 private:
  void WriteNext() {
    grpc::ByteBuffer message =
        FrameToMessage(FetchPiece(key_, object_, next_piece_++));
    std::lock_guard<std::mutex> lock(mutex_);
    if (has_ended_) return;
    message_ = std::move(message);
    StartWrite(&message_);
  }

  const State state_;
  const std::string from_;
  FetchKey key_;
  Payload object_;
  uint32_t next_piece_ = 0;
  grpc::ByteBuffer message_;
};

// A call that is refused before it begins.
class RefusedCall final : public ServedCall<RefusedCall> {
 public:
  RefusedCall(OpenCalls& open_calls, absl::Status why)
      : ServedCall(open_calls), why_(std::move(why)) {}
  void OnBegin() { End(why_); }
  void OnEnd() {}

 private:
  const absl::Status why_;
};

std::string MetadataOf(const grpc::GenericCallbackServerContext& context,
                       const char* key) {
  const auto& metadata = context.client_metadata();
  const auto it = metadata.find(key);
  if (it == metadata.end()) return "";
  return std::string(it->second.data(), it->second.size());
}

absl::Status CheckHandshake(const std::string& version,
                            const std::string& from) {
  if (version != kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("bulk version \"", version.substr(0, 16),
                     "\" was offered, this worker speaks ", kVersion));
  }
  if (from.empty() || from.size() > kNameBytesMax) {
    return absl::InvalidArgumentError("the peer gave no name or a long one");
  }
  return absl::OkStatus();
}

// A worker with a certificate has the name in it. Operators fetch, and have
// none here.
absl::Status CheckName(const grpc::GenericCallbackServerContext& context,
                       const Caller& caller, const std::string& from) {
  if (!caller.name.has_value()) return absl::OkStatus();
  const auto* const worker =
      std::get_if<identity::WorkerName>(&caller.name->who);
  if (worker == nullptr || worker->worker == from) return absl::OkStatus();
  const absl::Status refused = absl::PermissionDeniedError(
      absl::StrCat("the peer calls itself ", from,
                   " and has the certificate of worker ", worker->worker));
  runtime::Log(runtime::Severity::kWarning, "transport.call.refused",
               {{"caller", Describe(caller)},
                {"serial", caller.serial},
                {"from", context.peer()},
                {"cause", std::string(refused.message())}});
  return refused;
}

}  // namespace

grpc::ServerGenericBidiReactor* BulkService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  const std::string from = MetadataOf(*context, kFromKey);
  absl::Status status = CheckHandshake(MetadataOf(*context, kVersionKey), from);
  const absl::StatusOr<Caller> caller = CallerOf(*context->auth_context());
  if (status.ok()) status = caller.status();
  if (status.ok()) status = CheckName(*context, *caller, from);
  if (status.ok() && context->method() == kFramesMethod) {
    return FrameSink::Begin(
        std::make_shared<FrameSink>(state_, open_calls_, from, *caller));
  }
  if (status.ok() && context->method() == kFetchMethod) {
    return FetchServer::Begin(
        std::make_shared<FetchServer>(state_, open_calls_, from));
  }
  if (context->method() != kFramesMethod && context->method() != kFetchMethod) {
    status = absl::UnimplementedError("no such method");
  }
  return RefusedCall::Begin(
      std::make_shared<RefusedCall>(open_calls_, std::move(status)));
}

}  // namespace skerry::transport
