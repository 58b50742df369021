#include "worker/daemon/piece_sender.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "proto/skerry/v1/piece.grpc.pb.h"

namespace skerry::worker {
namespace {

// One is on its way, and the transport holds a few.
constexpr size_t kChunkBytes = size_t{256} << 10;

}  // namespace

// Belongs to gRPC until it is done with the call, and to the sender for as long
// as it is wanted.
class PieceSender::Call final
    : public grpc::ClientWriteReactor<v1::DeliveredChunk> {
 public:
  static std::shared_ptr<Call> Start(
      const std::shared_ptr<grpc::Channel>& channel,
      const protocol::PieceOrder& order, absl::StatusOr<SharedBytes> piece) {
    std::shared_ptr<Call> call(new Call(channel, std::move(piece)));
    call->self_ = call;
    call->Begin(order);
    return call;
  }
  void Cancel() { context_.TryCancel(); }

 private:
  Call(const std::shared_ptr<grpc::Channel>& channel,
       absl::StatusOr<SharedBytes> piece)
      : stub_(v1::Pieces::NewStub(channel)), piece_(std::move(piece)) {}

  void Begin(const protocol::PieceOrder& order) {
    stub_->async()->DeliverPiece(&context_, &reply_, this);
    if (piece_.ok() && order.offset > piece_->size()) {
      piece_ = absl::OutOfRangeError(
          absl::StrCat("the piece has ", piece_->size(), " bytes and no more"));
    }
    next_ = order.offset;
    message_.set_request(order.request);
    if (piece_.ok()) {
      Fill();
    } else {
      message_.set_error_code(static_cast<uint32_t>(piece_.status().code()));
      message_.set_error(std::string(piece_.status().message()));
    }
    Write();
    StartCall();
  }
  void Fill() {
    const std::span<const std::byte> bytes = piece_->bytes();
    const size_t count = std::min(kChunkBytes, bytes.size() - next_);
    v1::PieceChunk& chunk = *message_.mutable_chunk();
    chunk.set_total_bytes(bytes.size());
    chunk.set_data(bytes.data() + next_, count);
    next_ += count;
  }
  void Write() {
    if (!piece_.ok() || next_ == piece_->size()) {
      StartWriteLast(&message_, grpc::WriteOptions());
    } else {
      StartWrite(&message_);
    }
  }
  void OnWriteDone(bool ok) override {
    if (!ok || !piece_.ok() || next_ == piece_->size()) return;
    message_.clear_request();
    Fill();
    Write();
  }
  // The coordinator knows why a call has failed, and its caller asks again.
  void OnDone(const grpc::Status&) override {
    const std::shared_ptr<Call> self = std::move(self_);
  }

  const std::unique_ptr<v1::Pieces::Stub> stub_;
  grpc::ClientContext context_;
  absl::StatusOr<SharedBytes> piece_;
  size_t next_ = 0;  // byte of the piece
  v1::DeliveredChunk message_;
  v1::DeliverPieceReply reply_;
  // gRPC's share in the ownership, until OnDone().
  std::shared_ptr<Call> self_;
};

PieceSender::PieceSender(std::string coordinator,
                         std::shared_ptr<transport::Credentials> credentials,
                         Find find)
    : coordinator_(std::move(coordinator)),
      credentials_(std::move(credentials)),
      find_(std::move(find)) {}

PieceSender::~PieceSender() {
  for (const auto& [request, call] : calls_) call->Cancel();
}

void PieceSender::OnOrders(const std::vector<protocol::PieceOrder>& orders) {
  absl::btree_set<uint64_t> wanted;
  for (const protocol::PieceOrder& order : orders) {
    wanted.insert(order.request);
    if (!calls_.contains(order.request)) Send(order);
  }
  for (auto it = calls_.begin(); it != calls_.end();) {
    if (wanted.contains(it->first)) {
      ++it;
      continue;
    }
    it->second->Cancel();
    it = calls_.erase(it);
  }
}

void PieceSender::Send(const protocol::PieceOrder& order) {
  if (channel_ == nullptr) {
    // A dead connection does not hold a piece in memory for long.
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10000);
    channel_ = credentials_->ChannelTo(
        coordinator_, transport::ServerKind::kCoordinator, arguments);
  }
  calls_[order.request] = Call::Start(channel_, order, find_(order.key));
}

}  // namespace skerry::worker
