// transport/grpc/fetch_call.h
//
// The asking end of one fetch.
#ifndef SKERRY_TRANSPORT_GRPC_FETCH_CALL_H_
#define SKERRY_TRANSPORT_GRPC_FETCH_CALL_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/event_loop.h"
#include "transport/bulk.h"
#include "transport/fetch_wire.h"
#include "transport/grpc/call_target.h"
#include "transport/grpc/fetch_in_progress.h"
#include "transport/grpc/open_calls.h"

namespace skerry::transport {

// Owned by gRPC until it is done with the call, and by whoever holds a pointer.
class FetchCall final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
      public FetchInProgress {
 public:
  // `done` runs on `loop`. Loop and `open_calls` outlive the call.
  static std::shared_ptr<FetchCall> Start(
      const std::shared_ptr<grpc::Channel>& channel, const CallTarget& target,
      const PieceKey& key, uint64_t object_bytes_max, runtime::EventLoop& loop,
      OpenCalls& open_calls, BulkTransport::FetchDone done);

  void Cancel() override { context_.TryCancel(); }
  uint64_t pieces_received() const override { return pieces_received_; }

 private:
  FetchCall(const PieceKey& key, uint64_t object_bytes_max,
            runtime::EventLoop& loop, OpenCalls& open_calls,
            BulkTransport::FetchDone done);

  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;
  absl::StatusOr<SharedBytes> Outcome(const grpc::Status& status);

  runtime::EventLoop& loop_;
  OpenCalls& open_calls_;
  BulkTransport::FetchDone done_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer piece_;
  FetchAssembler assembler_;
  bool is_relayed_ = false;
  absl::Status refused_;  // why we left, when we did
  std::atomic<uint64_t> pieces_received_ = 0;
  // gRPC's share in the ownership, until OnDone().
  std::shared_ptr<FetchCall> self_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_FETCH_CALL_H_
