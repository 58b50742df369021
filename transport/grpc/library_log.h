// transport/grpc/library_log.h
//
// What gRPC and protobuf have to say, as debug events "library.grpc" and
// "library.protobuf". Both write to stderr otherwise, in their own form, and
// protobuf does so for every bad byte that a stranger sends.
#ifndef SKERRY_TRANSPORT_GRPC_LIBRARY_LOG_H_
#define SKERRY_TRANSPORT_GRPC_LIBRARY_LOG_H_

namespace skerry::transport {

// For the rest of the process. Called by main, after its log sink is there.
void TakeLibraryLogs();

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_LIBRARY_LOG_H_
