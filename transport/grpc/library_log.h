// transport/grpc/library_log.h
//
// Turns messages of gRPC and protobuf into debug events "library.grpc" and
// "library.protobuf". Otherwise both write to stderr in their own form, and
// protobuf does so for every malformed message of a stranger.
#ifndef SKERRY_TRANSPORT_GRPC_LIBRARY_LOG_H_
#define SKERRY_TRANSPORT_GRPC_LIBRARY_LOG_H_

#include <cstdint>

namespace skerry::transport {

// For the rest of the process. Called by main, after its log sink is there.
void TakeLibraryLogs();

// How many TLS handshakes of this process have failed since TakeLibraryLogs(),
// at either end. gRPC says nothing of a handshake that it closes because it has
// not ended in time. Any thread.
uint64_t FailedHandshakes();

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_LIBRARY_LOG_H_
