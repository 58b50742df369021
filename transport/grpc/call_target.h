// transport/grpc/call_target.h
//
// Says for whom a call is that this worker opens: for the worker at the other
// end of the channel, or for another one beyond it.
#ifndef SKERRY_TRANSPORT_GRPC_CALL_TARGET_H_
#define SKERRY_TRANSPORT_GRPC_CALL_TARGET_H_

#include <grpcpp/client_context.h>

#include <string>

#include "transport/grpc/bulk_names.h"

namespace skerry::transport {

struct CallTarget {
  // This worker's name.
  std::string from;
  // The worker behind the relay at the other end of the channel; empty when
  // there is no relay.
  std::string beyond;

  bool is_relayed() const { return !beyond.empty(); }
  // Adds what a call says before anything else.
  void AddTo(grpc::ClientContext& context) const {
    context.AddMetadata(kVersionKey, kVersion);
    context.AddMetadata(kFromKey, from);
    if (is_relayed()) context.AddMetadata(kPeerKey, beyond);
  }
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_CALL_TARGET_H_
