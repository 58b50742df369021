// transport/grpc/server_check.h
//
// Whether the server that answers at an address is the one that a client means.
#ifndef SKERRY_TRANSPORT_GRPC_SERVER_CHECK_H_
#define SKERRY_TRANSPORT_GRPC_SERVER_CHECK_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace skerry::transport {

enum class ServerKind { kCoordinator, kWorker };

struct MeantServer {
  std::string cluster;
  ServerKind kind = ServerKind::kCoordinator;
  // The worker; none: any worker of the cluster.
  std::optional<std::string> worker;
};

// `uri` is the name in the server's certificate, whose chain has been verified.
// Errors: Unauthenticated, with both names.
absl::Status CheckServer(const MeantServer& meant, std::string_view uri);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_SERVER_CHECK_H_
