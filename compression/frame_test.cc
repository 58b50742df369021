#include "compression/frame.h"

#include <array>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "base/hash.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

FrameHeader Sample(std::span<const std::byte> payload) {
  return {.kind = FrameKind::kResult,
          .codec = CodecId::kInt8Block,
          .job = 0x0102030405060708,
          .fragment = 3,
          .sequence = 41,
          .attempt = 977,
          .sender = 5,
          .span = 63,
          .part = 1,
          .parts = 2,
          .element_count = 1 << 21,
          .payload_bytes = payload.size(),
          .payload_hash = Hash64(payload)};
}

std::array<std::byte, kFrameHeaderBytes> Written(const FrameHeader& header) {
  std::array<std::byte, kFrameHeaderBytes> bytes;
  WriteFrameHeader(header, bytes);
  return bytes;
}

// Puts `value` at `at` and makes the header hash right again.
template <typename T>
std::array<std::byte, kFrameHeaderBytes> Forged(
    std::array<std::byte, kFrameHeaderBytes> bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  const uint64_t hash =
      Hash64(std::span<const std::byte>(bytes).first(kFrameHeaderBytes - 8));
  std::memcpy(bytes.data() + kFrameHeaderBytes - 8, &hash, sizeof(hash));
  return bytes;
}

TEST(FrameTest, WhatIsWrittenIsRead) {
  const std::vector<std::byte> payload(1000, std::byte{7});
  const FrameHeader header = Sample(payload);
  const auto read = ReadFrameHeader(Written(header));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, header);
  EXPECT_TRUE(CheckPayload(*read, payload).ok());
}

// The offsets of docs/formats/frame.md, byte by byte.
TEST(FrameTest, TheLayoutIsTheOneOnTheFormatPage) {
  const auto bytes = Written(Sample({}));
  EXPECT_EQ(std::memcmp(bytes.data(), "SKRF", 4), 0);
  const auto byte = [&](size_t at) { return std::to_integer<int>(bytes[at]); };
  EXPECT_EQ(byte(4), 1);
  EXPECT_EQ(byte(5), 2);
  EXPECT_EQ(byte(6), 2);
  EXPECT_EQ(byte(7), 0);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(byte(8 + i), 8 - i);
  EXPECT_EQ(byte(16), 41);
  EXPECT_EQ(byte(24), 977 & 0xff);
  EXPECT_EQ(byte(25), 977 >> 8);
  EXPECT_EQ(byte(32), 5);
  EXPECT_EQ(byte(42), 0x20);
  EXPECT_EQ(byte(48), 0);
  EXPECT_EQ(byte(64), 3);
  EXPECT_EQ(byte(68), 63);
  EXPECT_EQ(byte(72), 1);
  EXPECT_EQ(byte(76), 2);
}

TEST(FrameTest, AFieldOutOfBoundsIsRefusedThoughTheHashFits) {
  const auto good = Written(Sample({}));
  ASSERT_TRUE(ReadFrameHeader(Forged(good, 5, uint8_t{2})).ok());
  const auto refused = [](const auto& bytes) {
    return absl::IsDataLoss(ReadFrameHeader(bytes).status());
  };
  EXPECT_TRUE(refused(Forged(good, 0, uint32_t{0})));
  EXPECT_TRUE(refused(Forged(good, 4, uint8_t{2})));
  EXPECT_TRUE(refused(Forged(good, 5, uint8_t{0})));
  EXPECT_TRUE(refused(Forged(good, 5, uint8_t{6})));
  EXPECT_TRUE(refused(Forged(good, 6, uint8_t{200})));
  EXPECT_TRUE(refused(Forged(good, 7, uint8_t{1})));
  EXPECT_TRUE(refused(Forged(good, 40, kFrameElementsMax + 1)));
  EXPECT_TRUE(refused(Forged(good, 48, kFramePayloadBytesMax + 1)));
  EXPECT_TRUE(refused(Forged(good, 64, kFrameFragmentsMax)));
  EXPECT_TRUE(refused(Forged(good, 68, kFrameSpansMax)));
  EXPECT_TRUE(refused(Forged(good, 72, uint32_t{2})));
  EXPECT_TRUE(refused(Forged(good, 76, uint32_t{0})));
  EXPECT_TRUE(refused(Forged(good, 76, kFramePartsMax + 1)));
}

TEST(FrameTest, AHeaderCutShortIsRefused) {
  const auto bytes = Written(Sample({}));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(
        ReadFrameHeader(std::span<const std::byte>(bytes).first(size))
            .status()));
  }
}

}  // namespace
}  // namespace skerry::compression
