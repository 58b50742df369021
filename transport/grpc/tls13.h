// transport/grpc/tls13.h
//
// Leaves TLS 1.3 alone of all versions.
#ifndef SKERRY_TRANSPORT_GRPC_TLS13_H_
#define SKERRY_TRANSPORT_GRPC_TLS13_H_

namespace skerry::transport {

// Call it before anything of TLS in gRPC, which reads it once in a process.
void AllowTls13Alone();

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_TLS13_H_
