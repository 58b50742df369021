#include "worker/core/inbox.h"

#include <vector>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using compression::CodecId;
using compression::FrameHeader;
using compression::FrameKind;

Inbox Make(uint64_t bytes_max = 1 << 20) {
  return Inbox(FrameKind::kContribution, CodecId::kRawF32, 10, bytes_max);
}

FrameHeader Header(uint32_t part, uint32_t parts, size_t bytes) {
  FrameHeader header;
  header.element_count = 10;
  header.part = part;
  header.parts = parts;
  header.payload_bytes = bytes;
  return header;
}

SharedBytes Bytes(size_t count, int value) {
  return SharedBytes(
      std::vector<std::byte>(count, static_cast<std::byte>(value)));
}

TEST(InboxTest, PartsInAnyOrderCountOnceEach) {
  Inbox inbox = Make();
  EXPECT_EQ(inbox.parts_seen(), 0u);
  EXPECT_EQ(inbox.Put(Header(1, 2, 8), Bytes(8, 2)), FrameVerdict::kAccepted);
  EXPECT_EQ(inbox.Put(Header(1, 2, 8), Bytes(8, 9)), FrameVerdict::kAccepted);
  EXPECT_EQ(inbox.parts_seen(), 1u);
  EXPECT_FALSE(inbox.whole());
  EXPECT_EQ(inbox.Put(Header(0, 2, 8), Bytes(8, 1)), FrameVerdict::kAccepted);
  ASSERT_TRUE(inbox.whole());
  EXPECT_EQ(inbox.bytes(), 16u);
  const SharedBytes joined = Join(inbox.parts());
  EXPECT_EQ(joined.bytes()[0], std::byte{1});
  EXPECT_EQ(joined.bytes()[15], std::byte{2});
}

TEST(InboxTest, RepeatsAfterDropAreStillRepeats) {
  Inbox inbox = Make();
  inbox.Put(Header(0, 1, 8), Bytes(8, 1));
  inbox.Drop();
  EXPECT_EQ(inbox.Put(Header(0, 1, 8), Bytes(8, 1)), FrameVerdict::kAccepted);
  EXPECT_EQ(inbox.parts_seen(), 1u);
}

TEST(InboxTest, WhatWasNotExpectedIsRefused) {
  Inbox inbox = Make(/*bytes_max=*/20);
  FrameHeader other = Header(0, 1, 8);
  other.kind = FrameKind::kResult;
  EXPECT_EQ(inbox.Put(other, Bytes(8, 1)), FrameVerdict::kRefused);
  other = Header(0, 1, 8);
  other.codec = CodecId::kBf16;
  EXPECT_EQ(inbox.Put(other, Bytes(8, 1)), FrameVerdict::kRefused);
  other = Header(0, 1, 8);
  other.element_count = 11;
  EXPECT_EQ(inbox.Put(other, Bytes(8, 1)), FrameVerdict::kRefused);
  EXPECT_EQ(inbox.Put(Header(0, 1, 8), Bytes(9, 1)), FrameVerdict::kRefused);
  EXPECT_EQ(inbox.Put(Header(0, 1, 21), Bytes(21, 1)), FrameVerdict::kRefused);
  // A table of parts larger than the bytes could ever fill.
  EXPECT_EQ(inbox.Put(Header(0, 1000, 8), Bytes(8, 1)), FrameVerdict::kRefused);
  EXPECT_EQ(inbox.Put(Header(1, 1, 8), Bytes(8, 1)), FrameVerdict::kRefused);
}

TEST(InboxTest, PartsMustAgreeOnTheirCount) {
  Inbox inbox = Make(/*bytes_max=*/4096);
  EXPECT_EQ(inbox.Put(Header(0, 2, 8), Bytes(8, 1)), FrameVerdict::kAccepted);
  EXPECT_EQ(inbox.Put(Header(1, 3, 8), Bytes(8, 1)), FrameVerdict::kRefused);
}

}  // namespace
}  // namespace skerry::worker
