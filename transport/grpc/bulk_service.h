// transport/grpc/bulk_service.h
//
// The serving end of bulk transport: streams of frames and fetches that other
// workers open, for themselves, for this one, or for each other.
#ifndef SKERRY_TRANSPORT_GRPC_BULK_SERVICE_H_
#define SKERRY_TRANSPORT_GRPC_BULK_SERVICE_H_

#include <grpcpp/generic/async_generic_service.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "transport/grpc/bulk_call_state.h"
#include "transport/grpc/caller.h"
#include "transport/grpc/open_calls.h"

namespace skerry::transport {

// Answers the methods of bulk_names.h and refuses all others with
// Unimplemented.
class BulkService final : public grpc::CallbackGenericService {
 public:
  explicit BulkService(std::shared_ptr<BulkCallState> state)
      : state_(std::move(state)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;
  // After the server was shut down.
  void AwaitCalls() { open_calls_.AwaitNone(); }

 private:
  grpc::ServerGenericBidiReactor* Refuse(absl::Status why);
  // `from` has opened one of the calls of relays.
  grpc::ServerGenericBidiReactor* Relay(
      const grpc::GenericCallbackServerContext& context,
      const std::string& from, const Caller& caller);

  std::shared_ptr<BulkCallState> state_;
  OpenCalls open_calls_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_BULK_SERVICE_H_
