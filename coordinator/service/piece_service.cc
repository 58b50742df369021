#include "coordinator/service/piece_service.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "coordinator/service/grpc_status.h"
#include "identity/name.h"
#include "protocol/convert/reach.h"
#include "runtime/log.h"
#include "runtime/posix/entropy.h"
#include "transport/grpc/caller.h"

namespace skerry::coordinator {
namespace {

constexpr int kWorkersMax = 1024;
constexpr uint32_t kCodeMax = 16;
// Some are of pieces that nobody waits for any more.
constexpr size_t kDeliveriesPerPiece = 4;

// The worker's own word, where it makes sense.
absl::Status ErrorIn(const v1::DeliveredChunk& message) {
  if (message.error_code() == 0) return absl::OkStatus();
  const auto code = message.error_code() <= kCodeMax
                        ? static_cast<absl::StatusCode>(message.error_code())
                        : absl::StatusCode::kUnknown;
  constexpr size_t kTextMax = 512;
  return absl::Status(code, message.error().substr(0, kTextMax));
}

}  // namespace

// A worker's call. Created on a gRPC thread, then used on the loop.
class PieceService::Delivery final
    : public grpc::ServerReadReactor<v1::DeliveredChunk> {
 public:
  Delivery(uint64_t id, PieceService& owner, std::optional<std::string> worker)
      : id(id), worker(std::move(worker)), owner_(owner) {}

  void Read() { StartRead(&message); }
  void End(const absl::Status& status) {
    if (!std::exchange(has_ended, true)) Finish(ToGrpc(status));
  }

  void OnReadDone(bool ok) override {
    owner_.loop_.Post(
        [&owner = owner_, id = id, ok] { owner.OnChunk(id, ok); });
  }
  void OnDone() override {
    owner_.loop_.Post([&owner = owner_, id = id] {
      owner.EndDelivery(id, absl::UnavailableError("the worker is gone"));
      owner.deliveries_.erase(id);
    });
  }

  const uint64_t id;
  // In its certificate; none in plaintext.
  const std::optional<std::string> worker;
  // Belongs to gRPC while it is read.
  v1::DeliveredChunk message;
  // The call that it feeds; 0 before the first message.
  uint64_t fetch = 0;
  bool has_ended = false;

 private:
  PieceService& owner_;
};

PieceService::PieceService(const PieceOptions& options,
                           runtime::EventLoop& loop, ClusterShell& shell)
    : options_(options), loop_(loop), shell_(shell), desk_(options.pieces_max) {
  shell_.set_add_orders([this](const std::string& worker, Orders& orders) {
    orders.pieces = desk_.OrdersFor(worker);
  });
}

PieceService::~PieceService() = default;

grpc::ServerWriteReactor<v1::PieceChunk>* PieceService::FetchPiece(
    Context* context, const v1::FetchPieceRequest* request) {
  const uint64_t id = ++made_;
  auto stream =
      std::make_unique<PushStream<v1::PieceChunk>>(id, loop_, *this, *context);
  PushStream<v1::PieceChunk>* reactor = stream.get();
  loop_.Post(
      [this, id, stream = std::move(stream), request = *request]() mutable {
        Admit(id, std::move(stream), request);
      });
  return reactor;
}

void PieceService::Admit(uint64_t id,
                         std::unique_ptr<PushStream<v1::PieceChunk>> stream,
                         const v1::FetchPieceRequest& request) {
  fetches_[id].stream = std::move(stream);
  const absl::Status asked = closed_.has_value() ? *closed_ : Ask(id, request);
  if (!asked.ok()) return EndFetch(id, asked);
  WatchFetch(id);
}

absl::Status PieceService::Ask(uint64_t id,
                               const v1::FetchPieceRequest& request) {
  SKERRY_ASSIGN_OR_RETURN(const protocol::PieceKey key,
                          protocol::AskedFromProto(request.key()));
  if (request.workers().empty() || request.workers_size() > kWorkersMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("workers: name 1 to ", kWorkersMax, " that hold it"));
  }
  for (const std::string& worker : request.workers()) {
    if (!shell_.HasStream(worker)) continue;
    const uint64_t number = runtime::DrawRandom64();
    SKERRY_RETURN_IF_ERROR(desk_.Ask(worker, {number, key, request.offset()}));
    Fetch& fetch = fetches_.at(id);
    fetch.worker = worker;
    fetch.request = number;
    fetch.next = request.offset();
    fetch_of_[number] = id;
    shell_.Touch(worker);
    return absl::OkStatus();
  }
  constexpr int kNamed = 4;
  const auto& all = request.workers();
  return absl::UnavailableError(absl::StrCat(
      "none of the workers that hold it is connected: ",
      absl::StrJoin(all.begin(), all.begin() + std::min(kNamed, all.size()),
                    ", "),
      all.size() > kNamed ? ", ..." : ""));
}

void PieceService::WatchFetch(uint64_t id) {
  loop_.RunAt(loop_.Now() + options_.stall_max,
              [this, id, chunks = fetches_.at(id).chunks] {
                const auto it = fetches_.find(id);
                if (it == fetches_.end() || it->second.has_ended) return;
                if (it->second.chunks != chunks) return WatchFetch(id);
                EndFetch(id,
                         absl::UnavailableError(absl::StrCat(
                             "nothing of the piece has passed for ",
                             absl::FormatDuration(options_.stall_max),
                             "; worker ", it->second.worker, " was asked")));
              });
}

void PieceService::EndFetch(uint64_t id, const absl::Status& status) {
  const auto it = fetches_.find(id);
  if (it == fetches_.end() || std::exchange(it->second.has_ended, true)) {
    return;
  }
  Fetch& fetch = it->second;
  if (fetch.request != 0) {
    desk_.Forget(fetch.request);
    fetch_of_.erase(fetch.request);
    // It need not send the rest.
    shell_.Touch(fetch.worker);
  }
  const auto delivery = deliveries_.find(fetch.delivery);
  if (delivery != deliveries_.end()) {
    delivery->second->End(
        status.ok() ? status : absl::CancelledError("nobody wants the rest"));
  }
  fetch.stream->Finish(status);
}

void PieceService::OnReady(uint64_t stream) {
  const auto it = fetches_.find(stream);
  if (it == fetches_.end() || it->second.has_ended) return;
  const auto delivery = deliveries_.find(it->second.delivery);
  if (delivery != deliveries_.end() && !delivery->second->has_ended) {
    delivery->second->Read();
  }
}

void PieceService::OnCancelled(uint64_t stream) {
  EndFetch(stream, absl::CancelledError("the caller left"));
}

void PieceService::OnDone(uint64_t stream) {
  EndFetch(stream, absl::CancelledError("the caller left"));
  fetches_.erase(stream);
}

grpc::ServerReadReactor<v1::DeliveredChunk>* PieceService::DeliverPiece(
    Context* context, v1::DeliverPieceReply*) {
  // The guard has refused certificates that cannot be read.
  const transport::Caller caller = transport::CallerOf(*context->auth_context())
                                       .value_or(transport::Caller());
  std::optional<std::string> worker;
  if (caller.name.has_value()) {
    const auto* const named =
        std::get_if<identity::WorkerName>(&caller.name->who);
    worker = named == nullptr ? "" : named->worker;
  }
  const uint64_t id = ++made_;
  auto delivery = std::make_unique<Delivery>(id, *this, std::move(worker));
  Delivery* reactor = delivery.get();
  loop_.Post([this, id, delivery = std::move(delivery)]() mutable {
    Delivery& admitted = *delivery;
    deliveries_[id] = std::move(delivery);
    if (closed_.has_value()) return admitted.End(*closed_);
    if (deliveries_.size() > kDeliveriesPerPiece * options_.pieces_max) {
      return admitted.End(absl::ResourceExhaustedError(
          absl::StrCat(deliveries_.size() - 1, " pieces are being sent")));
    }
    admitted.Read();
  });
  return reactor;
}

void PieceService::OnChunk(uint64_t id, bool is_there) {
  const auto it = deliveries_.find(id);
  if (it == deliveries_.end() || it->second->has_ended) return;
  if (!is_there) {
    return EndDelivery(
        id, absl::UnavailableError("the worker stopped in the middle"));
  }
  Delivery& delivery = *it->second;
  if (delivery.fetch == 0) {
    const absl::Status paired = Pair(delivery, delivery.message.request());
    if (!paired.ok()) {
      if (absl::IsPermissionDenied(paired)) {
        runtime::Log(runtime::Severity::kWarning, "transport.call.refused",
                     {{"caller", delivery.worker.value_or("nobody")},
                      {"cause", paired}});
      }
      return delivery.End(paired);
    }
  }
  const absl::Status taken = Take(delivery);
  if (!taken.ok()) EndFetch(delivery.fetch, taken);
}

absl::Status PieceService::Pair(Delivery& delivery, uint64_t request) {
  SKERRY_RETURN_IF_ERROR(desk_.Begin(request, delivery.worker));
  delivery.fetch = fetch_of_.at(request);
  fetches_.at(delivery.fetch).delivery = delivery.id;
  return absl::OkStatus();
}

// The bytes of the whole piece and their order are what the worker says. The
// caller has the hash.
absl::Status PieceService::Take(Delivery& delivery) {
  const auto it = fetches_.find(delivery.fetch);
  if (it == fetches_.end() || it->second.has_ended) return absl::OkStatus();
  Fetch& fetch = it->second;
  SKERRY_RETURN_IF_ERROR(ErrorIn(delivery.message));
  v1::PieceChunk& chunk = *delivery.message.mutable_chunk();
  if (fetch.chunks > 0 && chunk.total_bytes() != fetch.total) {
    return absl::DataLossError("the worker changed the size of the piece");
  }
  fetch.total = chunk.total_bytes();
  fetch.next += chunk.data().size();
  ++fetch.chunks;
  const bool is_last = fetch.next >= fetch.total;
  fetch.stream->Send(std::move(chunk));
  // It leaves before the call ends.
  if (is_last) EndFetch(delivery.fetch, absl::OkStatus());
  return absl::OkStatus();
}

void PieceService::EndDelivery(uint64_t id, const absl::Status& status) {
  const auto it = deliveries_.find(id);
  if (it == deliveries_.end()) return;
  const uint64_t fetch = it->second->fetch;
  if (fetch != 0) EndFetch(fetch, status);
  it->second->End(status);
}

void PieceService::Close(const absl::Status& why) {
  closed_ = why;
  for (auto& [id, fetch] : fetches_) {
    EndFetch(id, why);
    fetch.stream->Close(why);
  }
  for (auto& [id, delivery] : deliveries_) delivery->End(why);
}

}  // namespace skerry::coordinator
