#include "transport/grpc/tls13.h"

#include <cstdlib>

namespace skerry::transport {
namespace {

// gRPC has no setting for the version. This one cipher of TLS 1.2 wants an RSA
// certificate, and identities have keys of P-256, so that 1.3 is left.
constexpr char kCipherSuites[] = "ECDHE-RSA-AES256-GCM-SHA384";

}  // namespace

void AllowTls13Alone() {
  [[maybe_unused]] static const int is_set =
      setenv("GRPC_SSL_CIPHER_SUITES", kCipherSuites, /*overwrite=*/1);
}

}  // namespace skerry::transport
