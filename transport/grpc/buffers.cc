#include "transport/grpc/buffers.h"

#include <grpcpp/support/slice.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/status.h"

namespace skerry::transport {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMessageBytesMax = 1024;  // of a status

// gRPC's wish for a mutable pointer is a matter of its C ancestry: it never
// writes through it.
grpc::Slice SliceOf(const SharedBytes& payload) {
  using Owner = std::shared_ptr<const void>;
  auto owner = std::make_unique<Owner>(payload.owner());
  const void* bytes = payload.bytes().data();
  void* mutable_bytes;
  std::memcpy(&mutable_bytes, &bytes, sizeof(bytes));
  return grpc::Slice(
      mutable_bytes, payload.size(),
      [](void* held) { std::unique_ptr<Owner>(static_cast<Owner*>(held)); },
      owner.release());
}

std::shared_ptr<std::byte> AlignedBytes(size_t size) {
  void* bytes = ::operator new(size, std::align_val_t(kAlignment));
  return std::shared_ptr<std::byte>(
      static_cast<std::byte*>(bytes), [](std::byte* held) {
        ::operator delete(held, std::align_val_t(kAlignment));
      });
}

// Hands out the bytes of a message in order.
class MessageReader {
 public:
  explicit MessageReader(const std::vector<grpc::Slice>& slices)
      : slices_(slices) {}
  // False when fewer are left.
  bool Read(std::byte* out, size_t size) {
    while (size > 0) {
      if (index_ == slices_.size()) return false;
      const grpc::Slice& slice = slices_[index_];
      const size_t n = std::min(size, slice.size() - offset_);
      std::memcpy(out, slice.begin() + offset_, n);
      out += n;
      size -= n;
      offset_ += n;
      if (offset_ == slice.size()) {
        ++index_;
        offset_ = 0;
      }
    }
    return true;
  }

 private:
  const std::vector<grpc::Slice>& slices_;
  size_t index_ = 0;
  size_t offset_ = 0;
};

}  // namespace

grpc::ByteBuffer FrameToMessage(const Frame& frame) {
  std::array<std::byte, compression::kFrameHeaderBytes> header;
  compression::WriteFrameHeader(frame.header, header);
  grpc::Slice slices[2] = {grpc::Slice(header.data(), header.size()),
                           SliceOf(frame.payload)};
  return grpc::ByteBuffer(slices, frame.payload.size() == 0 ? 1 : 2);
}

absl::StatusOr<Frame> MessageToFrame(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) {
    return absl::DataLossError("a message cannot be read");
  }
  MessageReader reader(slices);
  std::array<std::byte, compression::kFrameHeaderBytes> header_bytes;
  if (!reader.Read(header_bytes.data(), header_bytes.size())) {
    return absl::DataLossError("a message is shorter than a frame header");
  }
  Frame frame;
  SKERRY_ASSIGN_OR_RETURN(frame.header,
                          compression::ReadFrameHeader(header_bytes));
  const size_t size = message.Length() - header_bytes.size();
  if (size != frame.header.payload_bytes) {
    return absl::DataLossError("a message has not the size its header says");
  }
  std::shared_ptr<std::byte> bytes = AlignedBytes(size);
  reader.Read(bytes.get(), size);
  const std::span<const std::byte> span(bytes.get(), size);
  SKERRY_RETURN_IF_ERROR(compression::CheckPayload(frame.header, span));
  frame.payload = SharedBytes(std::move(bytes), span);
  return frame;
}

grpc::ByteBuffer BytesToMessage(std::span<const std::byte> bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return grpc::ByteBuffer(&slice, 1);
}

absl::StatusOr<std::vector<std::byte>> MessageToBytes(
    const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) {
    return absl::DataLossError("a message cannot be read");
  }
  std::vector<std::byte> bytes(message.Length());
  MessageReader(slices).Read(bytes.data(), bytes.size());
  return bytes;
}

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(
      static_cast<grpc::StatusCode>(status.raw_code()),
      std::string(status.message().substr(0, kMessageBytesMax)));
}

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace skerry::transport
