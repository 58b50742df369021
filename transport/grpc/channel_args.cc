#include "transport/grpc/channel_args.h"

#include <grpc/grpc.h>
#include <grpcpp/resource_quota.h>

#include <string>
#include <utility>
#include <vector>

namespace skerry::transport {
namespace {

// A dead link is noticed after time + timeout. NAT boxes forget a silent
// connection after minutes, so pings go out without calls too.
constexpr int kKeepaliveTimeMs = 20000;
constexpr int kKeepaliveTimeoutMs = 10000;
constexpr int kPingIntervalMinMs = 10000;
// One frame and its header, with room to spare.
constexpr int kMessageBytesMax = 2 << 20;
constexpr int kMetadataBytesMax = 8 << 10;
// Measured together: larger and smaller ones cost more CPU a byte.
constexpr int kHttp2FrameBytesMax = 64 << 10;
constexpr int kReadChunkBytes = 256 << 10;
constexpr int kStreamsPerConnectionMax = 128;

using Argument = std::pair<std::string, int>;

std::vector<Argument> CommonArguments() {
  return {
      {GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs},
      {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs},
      {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
      {GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0},
      {GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, kMessageBytesMax},
      {GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax},
      // Without the estimator the window of a connection stays at one message,
      // whatever the window of its streams: one frame a round trip.
      {GRPC_ARG_HTTP2_BDP_PROBE, 1},
      {GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttp2FrameBytesMax},
      {GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes},
      {GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, 4 * kReadChunkBytes},
  };
}

}  // namespace

grpc::ChannelArguments BulkChannelArguments() {
  grpc::ChannelArguments arguments;
  for (const auto& [name, value] : CommonArguments()) {
    arguments.SetInt(name, value);
  }
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // In this library also the limit of one attempt to connect.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

void SetBulkServerArguments(grpc::ServerBuilder& builder) {
  for (const auto& [name, value] : CommonArguments()) {
    builder.AddChannelArgument(name, value);
  }
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kPingIntervalMinMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             kStreamsPerConnectionMax);
  // Two processes on one port would each get half of the peers.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace skerry::transport
