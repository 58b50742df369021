// transport/grpc/caller.h
//
// Who makes a call, as the certificate of the connection says it.
#ifndef SKERRY_TRANSPORT_GRPC_CALLER_H_
#define SKERRY_TRANSPORT_GRPC_CALLER_H_

#include <grpcpp/security/auth_context.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/name.h"
#include "transport/grpc/revocations.h"

namespace skerry::transport {

struct Caller {
  // None: the client has shown no certificate.
  std::optional<identity::Name> name;
  // The serial number of its certificate; empty without one.
  std::string serial;
  absl::Time not_after = absl::InfiniteFuture();
};

// gRPC has verified the certificate's chain. Errors: Unauthenticated, a
// certificate that names nobody of a cluster.
absl::StatusOr<Caller> CallerOf(const grpc::AuthContext& context);

// Whether a certificate may still be believed, which has `name` in it. Errors:
// Unauthenticated, it is revoked.
absl::Status CheckBelieved(const Revocations& revocations,
                           std::string_view name, std::string_view serial);

// "spiffe://lab/coordinator", or "nobody".
std::string Describe(const Caller& caller);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_CALLER_H_
