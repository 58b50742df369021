// coordinator/service/piece_service.h
//
// Passes pieces of states on from workers to operators who cannot dial them.
// For each piece it holds two chunks at most: the next one is read from the
// worker when the operator has taken the one before.
#ifndef SKERRY_COORDINATOR_SERVICE_PIECE_SERVICE_H_
#define SKERRY_COORDINATOR_SERVICE_PIECE_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/rules/piece_desk.h"
#include "coordinator/service/cluster_shell.h"
#include "coordinator/service/push_stream.h"
#include "proto/skerry/v1/piece.grpc.pb.h"
#include "runtime/event_loop.h"

namespace skerry::coordinator {

struct PieceOptions {
  // Pieces on their way at a time.
  size_t pieces_max = 16;
  // A piece of which nothing comes for this long is given up.
  absl::Duration stall_max = absl::Seconds(15);
};

// The methods of the service run on gRPC threads, all else on the loop.
class PieceService final : public v1::Pieces::CallbackService,
                           public PushStreamOwner {
 public:
  // `loop` and `shell` outlive the service, and the service the server.
  PieceService(const PieceOptions& options, runtime::EventLoop& loop,
               ClusterShell& shell);
  ~PieceService() override;

  using Context = grpc::CallbackServerContext;
  grpc::ServerWriteReactor<v1::PieceChunk>* FetchPiece(
      Context* context, const v1::FetchPieceRequest* request) override;
  grpc::ServerReadReactor<v1::DeliveredChunk>* DeliverPiece(
      Context* context, v1::DeliverPieceReply* reply) override;

  // Ends every call with `why`, and every later one at once.
  void Close(const absl::Status& why);

  // --- PushStreamOwner.
  void OnReady(uint64_t stream) override;
  void OnCancelled(uint64_t stream) override;
  void OnDone(uint64_t stream) override;

 private:
  class Delivery;
  // An operator's call.
  struct Fetch {
    std::unique_ptr<PushStream<v1::PieceChunk>> stream;
    std::string worker;
    uint64_t request = 0;
    uint64_t delivery = 0;  // 0: the worker has not begun
    uint64_t next = 0;      // byte of the piece
    uint64_t total = 0;     // 0 before the first chunk
    uint64_t chunks = 0;
    bool has_ended = false;
  };

  void Admit(uint64_t id, std::unique_ptr<PushStream<v1::PieceChunk>> stream,
             const v1::FetchPieceRequest& request);
  // Says why nobody is asked.
  absl::Status Ask(uint64_t id, const v1::FetchPieceRequest& request);
  void WatchFetch(uint64_t id);
  void EndFetch(uint64_t id, const absl::Status& status);

  // A delivery has read a message, or has none left.
  void OnChunk(uint64_t delivery, bool is_there);
  absl::Status Pair(Delivery& delivery, uint64_t id);
  absl::Status Take(Delivery& delivery);
  void EndDelivery(uint64_t id, const absl::Status& status);

  const PieceOptions options_;
  runtime::EventLoop& loop_;
  ClusterShell& shell_;
  std::atomic<uint64_t> made_ = 0;
  // All below: on the loop.
  PieceDesk desk_;
  // Calls by number, and the fetch of each request.
  absl::btree_map<uint64_t, Fetch> fetches_;
  absl::btree_map<uint64_t, std::unique_ptr<Delivery>> deliveries_;
  absl::btree_map<uint64_t, uint64_t> fetch_of_;
  std::optional<absl::Status> closed_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_PIECE_SERVICE_H_
