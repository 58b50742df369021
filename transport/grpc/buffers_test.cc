#include "transport/grpc/buffers.h"

#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <memory>

#include "transport/testing/frames.h"

namespace skerry::transport {
namespace {

// The message's bytes in slices of `size`.
grpc::ByteBuffer Cut(const grpc::ByteBuffer& message, size_t size) {
  const std::vector<std::byte> bytes = MessageToBytes(message).value();
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += size) {
    slices.emplace_back(bytes.data() + at, std::min(size, bytes.size() - at));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

TEST(BuffersTest, AFrameComesBackHoweverItsMessageIsCut) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{5000}}) {
    const Frame sent = MakeFrame(1, 2, size);
    for (const size_t cut : {1, 7, 88, 4096}) {
      const auto got = MessageToFrame(Cut(FrameToMessage(sent), cut));
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(got->header, sent.header);
      EXPECT_TRUE(
          std::equal(got->payload.bytes().begin(), got->payload.bytes().end(),
                     sent.payload.bytes().begin(), sent.payload.bytes().end()));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(got->payload.bytes().data()) % 64,
                0u);
    }
  }
}

TEST(BuffersTest, ThePayloadIsNotCopiedAndLivesUntilTheMessageIsGone) {
  auto held = std::make_shared<const std::vector<std::byte>>(1 << 16);
  std::weak_ptr<const std::vector<std::byte>> watch = held;
  const std::byte* const bytes = held->data();
  Frame frame = MakeFrame(1, 0, 0);
  frame.payload = SharedBytes(held, *held);
  frame.header.payload_bytes = held->size();
  {
    const grpc::ByteBuffer message = FrameToMessage(frame);
    frame = Frame();
    held.reset();
    std::vector<grpc::Slice> slices;
    ASSERT_TRUE(message.Dump(&slices).ok());
    ASSERT_EQ(slices.size(), 2u);
    EXPECT_EQ(static_cast<const void*>(slices[1].begin()), bytes);
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(BuffersTest, EveryFlippedBitIsNoticed) {
  const Frame sent = MakeFrame(1, 2, 40);
  const std::vector<std::byte> good =
      MessageToBytes(FrameToMessage(sent)).value();
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::vector<std::byte> bytes = good;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(MessageToFrame(BytesToMessage(bytes)).status().code(),
              absl::StatusCode::kDataLoss)
        << bit;
  }
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(
        MessageToFrame(BytesToMessage(std::span(good).first(size))).ok());
  }
}

}  // namespace
}  // namespace skerry::transport
