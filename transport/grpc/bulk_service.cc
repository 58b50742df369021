#include "transport/grpc/bulk_service.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/log.h"
#include "runtime/posix/mutex.h"
#include "transport/fetch_wire.h"
#include "transport/grpc/buffers.h"
#include "transport/grpc/bulk_names.h"
#include "transport/grpc/caller.h"
#include "transport/grpc/frame_intake.h"
#include "transport/grpc/policy.h"
#include "transport/grpc/relayed_call.h"
#include "transport/grpc/reverse_book.h"
#include "transport/grpc/reverse_served.h"
#include "transport/grpc/served_call.h"

namespace skerry::transport {
namespace {

using State = std::shared_ptr<BulkCallState>;

// Frames that come in.
class FrameSink final : public FrameIntake<ServedCall<FrameSink>> {
 public:
  FrameSink(State state, OpenCalls& open_calls, std::string from,
            const Caller& caller)
      : FrameIntake(std::move(state), open_calls, std::move(from)),
        certificate_(Describe(caller)),
        serial_(caller.serial) {}

  void OnBegin() { BeginIntake(); }
  void OnEnd() { EndIntake(); }

 private:
  void OnReadsOver() override { End(absl::OkStatus()); }
  absl::Status CheckPeer() override {
    return CheckBelieved(*state_->revocations, certificate_, serial_);
  }

  const std::string certificate_;  // the name in it
  const std::string serial_;
};

// One object that goes out.
class FetchServer final : public ServedCall<FetchServer> {
 public:
  FetchServer(State state, OpenCalls& open_calls, Fetcher fetcher)
      : ServedCall(open_calls),
        state_(std::move(state)),
        fetcher_(std::move(fetcher)) {}

  void OnBegin() { StartRead(&message_); }
  void OnEnd() {}

  void OnReadDone(bool ok) override {
    if (!ok) return End(absl::InvalidArgumentError("no key was sent"));
    const auto bytes = MessageToBytes(message_);
    const absl::StatusOr<PieceKey> key =
        bytes.ok() ? DecodeFetchKey(*bytes) : bytes.status();
    if (!key.ok()) return End(key.status());
    key_ = *key;
    state_->loop.Post([call = self()] {
      Inbox* const inbox = call->state_->inbox;
      if (inbox == nullptr) return;
      inbox->OnFetch(call->fetcher_, call->key_,
                     [call](absl::StatusOr<SharedBytes> object) {
                       if (!object.ok()) return call->End(object.status());
                       call->object_ = *std::move(object);
                       call->WriteNext();
                     });
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
    const runtime::MutexLock lock(mutex_);
    if (has_ended_) return;
    message_ = std::move(message);
    StartWrite(&message_);
  }

  const State state_;
  const Fetcher fetcher_;
  PieceKey key_;
  SharedBytes object_;
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

bool IsRelayMethod(const std::string& method) {
  return method == kRelayFramesMethod || method == kRelayFetchMethod ||
         method == kRelayReverseFramesMethod ||
         method == kRelayReverseFetchMethod;
}

absl::StatusOr<int> ReadStreamIndex(const std::string& text) {
  int index = -1;
  if (text.size() <= 2 && absl::SimpleAtoi(text, &index) && index >= 0 &&
      index < kReverseStreamsMax) {
    return index;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      kStreamKey, " is not a number from 0 to ", kReverseStreamsMax - 1));
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
  if (!status.ok()) return Refuse(std::move(status));
  const std::string& method = context->method();
  if (method == kFramesMethod) {
    return FrameSink::Begin(
        std::make_shared<FrameSink>(state_, open_calls_, from, *caller));
  }
  if (method == kFetchMethod) {
    return FetchServer::Begin(std::make_shared<FetchServer>(
        state_, open_calls_,
        Fetcher{from, KindOf(caller->name) == CallerKind::kWorker}));
  }
  if (method == kReverseFramesMethod) {
    const absl::StatusOr<int> index =
        ReadStreamIndex(MetadataOf(*context, kStreamKey));
    if (!index.ok()) return Refuse(index.status());
    return ReverseOutput::Begin(std::make_shared<ReverseOutput>(
        state_, open_calls_, from, *index, *caller));
  }
  if (method == kReverseFetchMethod) {
    return ReverseFetch::Begin(
        std::make_shared<ReverseFetch>(state_, open_calls_, from, *caller));
  }
  if (IsRelayMethod(method)) return Relay(*context, from, *caller);
  return Refuse(absl::UnimplementedError("no such method"));
}

grpc::ServerGenericBidiReactor* BulkService::Relay(
    const grpc::GenericCallbackServerContext& context, const std::string& from,
    const Caller& caller) {
  const std::string peer = MetadataOf(context, kPeerKey);
  if (peer.empty() || peer.size() > kNameBytesMax) {
    return Refuse(absl::InvalidArgumentError(
        absl::StrCat(kPeerKey, " is no worker's name")));
  }
  const std::string& method = context.method();
  const bool is_sender =
      method == kRelayFramesMethod || method == kRelayFetchMethod;
  RelayRoute route{is_sender ? from : peer, is_sender ? peer : from,
                   RelayRoute::kFetches};
  if (method == kRelayFramesMethod || method == kRelayReverseFramesMethod) {
    const absl::StatusOr<int> index =
        ReadStreamIndex(MetadataOf(context, kStreamKey));
    if (!index.ok()) return Refuse(index.status());
    route.stream = *index;
  }
  return RelayedCall::Begin(std::make_shared<RelayedCall>(
      state_, open_calls_, std::move(route),
      is_sender ? RelayedCall::Side::kFrom : RelayedCall::Side::kTo, caller));
}

grpc::ServerGenericBidiReactor* BulkService::Refuse(absl::Status why) {
  return RefusedCall::Begin(
      std::make_shared<RefusedCall>(open_calls_, std::move(why)));
}

}  // namespace skerry::transport
