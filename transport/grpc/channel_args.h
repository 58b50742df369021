// transport/grpc/channel_args.h
//
// Sets how gRPC connections between workers behave. Both ends must use the same
// settings, because a server closes connections whose client sends keepalive
// pings too often.
#ifndef SKERRY_TRANSPORT_GRPC_CHANNEL_ARGS_H_
#define SKERRY_TRANSPORT_GRPC_CHANNEL_ARGS_H_

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

namespace skerry::transport {

// For a channel with a connection of its own.
grpc::ChannelArguments BulkChannelArguments();
void SetBulkServerArguments(grpc::ServerBuilder& builder);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_CHANNEL_ARGS_H_
