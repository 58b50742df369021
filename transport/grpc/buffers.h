// transport/grpc/buffers.h
//
// Frames as gRPC messages: 88 bytes of header, then the payload.
#ifndef SKERRY_TRANSPORT_GRPC_BUFFERS_H_
#define SKERRY_TRANSPORT_GRPC_BUFFERS_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/bulk.h"

namespace skerry::transport {

// The payload is not copied; its owner lives until gRPC lets go of it.
grpc::ByteBuffer FrameToMessage(const Frame& frame);
// Header and payload are checked; the payload is copied once, to memory aligned
// to 64. Errors: DataLoss.
absl::StatusOr<Frame> MessageToFrame(const grpc::ByteBuffer& message);

grpc::ByteBuffer BytesToMessage(std::span<const std::byte> bytes);
// For small messages. Errors: DataLoss.
absl::StatusOr<std::vector<std::byte>> MessageToBytes(
    const grpc::ByteBuffer& message);

// The two libraries number their codes alike. Long messages are cut.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_BUFFERS_H_
