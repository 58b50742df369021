// transport/grpc/library_log.h
//
// Turns messages of gRPC and protobuf into debug events "library.grpc" and
// "library.protobuf". Otherwise both write to stderr in their own form, and
// protobuf does so for every malformed message of a stranger.
#ifndef SKERRY_TRANSPORT_GRPC_LIBRARY_LOG_H_
#define SKERRY_TRANSPORT_GRPC_LIBRARY_LOG_H_

namespace skerry::transport {

// For the rest of the process. Called by main, after its log sink is there.
void TakeLibraryLogs();

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_LIBRARY_LOG_H_
