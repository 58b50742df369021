// transport/grpc/bulk_service.h
//
// The serving end of bulk transport: incoming streams of frames, and fetches.
#ifndef SKERRY_TRANSPORT_GRPC_BULK_SERVICE_H_
#define SKERRY_TRANSPORT_GRPC_BULK_SERVICE_H_

#include <grpcpp/generic/async_generic_service.h>

#include <cstdint>
#include <memory>

#include "runtime/event_loop.h"
#include "transport/grpc/open_calls.h"
#include "transport/grpc/revocations.h"
#include "transport/inbox.h"

namespace skerry::transport {

// What calls need. It is kept until the last call and its tasks are gone.
struct BulkServiceState {
  runtime::EventLoop& loop;
  // Bytes read from one stream and not yet handled by the loop, above which
  // nothing more is read from it.
  uint64_t unhandled_bytes_max;
  Inbox* inbox;  // touched on the loop; null once it is gone
  std::shared_ptr<const Revocations> revocations;
};

// Answers the two methods and refuses all others with Unimplemented.
class BulkService final : public grpc::CallbackGenericService {
 public:
  explicit BulkService(std::shared_ptr<BulkServiceState> state)
      : state_(std::move(state)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;
  // After the server was shut down.
  void AwaitCalls() { open_calls_.AwaitNone(); }

 private:
  std::shared_ptr<BulkServiceState> state_;
  OpenCalls open_calls_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_BULK_SERVICE_H_
