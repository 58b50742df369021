// transport/grpc/channel_args.h
//
// How gRPC connections between workers behave, on both ends: the two must fit
// each other, or the server closes a client that asks too often whether it
// still lives.
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
