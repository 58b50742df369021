#include "data/sentencepiece/frames.h"

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

// What is sent, without the length that is checked.
std::string Unframed(const std::optional<std::string>& frame) {
  EXPECT_TRUE(frame.has_value());
  const auto length =
      FrameLength(std::span<const char, kFrameLengthBytes>(frame->data(), 4));
  EXPECT_EQ(length, frame->size() - kFrameLengthBytes);
  return frame->substr(kFrameLengthBytes);
}

std::string Why(std::string_view bytes) {
  std::string why;
  EXPECT_FALSE(ParseFrame(bytes, why).has_value());
  EXPECT_FALSE(why.empty());
  EXPECT_EQ(why.find('\n'), std::string::npos);
  return why;
}

TEST(FramesTest, TextsComeBack) {
  const std::vector<std::string_view> texts = {"the sea", "",
                                               std::string_view("\0\xff", 2)};
  const std::string bytes = Unframed(WriteFrame(FrameKind::kEncode, texts));
  std::string why;
  const auto frame = ParseFrame(bytes, why);
  ASSERT_TRUE(frame.has_value()) << why;
  EXPECT_EQ(frame->kind, FrameKind::kEncode);
  EXPECT_EQ(frame->texts, texts);
  EXPECT_TRUE(frame->lists.empty());
}

TEST(FramesTest, ListsComeBack) {
  const std::vector<std::vector<int32_t>> lists = {{1, -1, 1 << 30}, {}, {7}};
  const std::string bytes = Unframed(WriteFrame(FrameKind::kEncoded, lists));
  std::string why;
  const auto frame = ParseFrame(bytes, why);
  ASSERT_TRUE(frame.has_value()) << why;
  EXPECT_EQ(frame->kind, FrameKind::kEncoded);
  EXPECT_EQ(frame->lists, lists);
}

// The bytes of docs/formats/sentencepiece_frames.md.
TEST(FramesTest, AFrameIsThoseBytes) {
  const std::string_view texts[] = {"a", "bc"};
  const char bytes[] = "\x17\0\0\0\1\0\0\0\3\0\0\0\2\0\0\0\1\0\0\0\2\0\0\0abc";
  EXPECT_EQ(WriteFrame(FrameKind::kEncode, texts),
            std::string(bytes, sizeof(bytes) - 1));
}

TEST(FramesTest, WhatIsCutOrLongerIsNoFrame) {
  const std::vector<std::vector<int32_t>> lists = {{1, 2}, {3}};
  const std::string_view texts[] = {"one", "two"};
  for (const std::string& bytes :
       {Unframed(WriteFrame(FrameKind::kDecode, lists)),
        Unframed(WriteFrame(FrameKind::kDecoded, texts))}) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      Why(std::string_view(bytes).substr(0, size));
    }
    Why(bytes + "x");
    Why(bytes + std::string(4, '\0'));
  }
}

TEST(FramesTest, AnotherVersionSaysWhatToDo) {
  const std::string_view texts[] = {"one"};
  std::string bytes = Unframed(WriteFrame(FrameKind::kOpen, texts));
  bytes[0] = 2;
  EXPECT_EQ(Why(bytes),
            "a frame has version 2, not 1; install the programs of one "
            "release");
}

TEST(FramesTest, ImpossibleHeadsAreRefused) {
  const std::string_view texts[] = {"one", "two"};
  std::string bytes = Unframed(WriteFrame(FrameKind::kEncode, texts));
  for (const char kind : {0, 8, 127}) {
    bytes[4] = kind;
    Why(bytes);
  }
  // One model, one message.
  bytes[4] = static_cast<char>(FrameKind::kOpen);
  Why(bytes);
  bytes[4] = static_cast<char>(FrameKind::kFailed);
  Why(bytes);
  bytes[4] = static_cast<char>(FrameKind::kEncode);
  // 16 million texts, of which there is not even a length.
  bytes[11] = 1;
  Why(bytes);
}

TEST(FramesTest, ALengthHasABound) {
  const char most[] = {0, 0, 0, 0x40};
  EXPECT_EQ(FrameLength(std::span<const char, 4>(most)), kFrameBytesMax);
  const char more[] = {1, 0, 0, 0x40};
  EXPECT_EQ(FrameLength(std::span<const char, 4>(more)), std::nullopt);
}

TEST(FramesPropertyTest, AnyTextsAndListsComeBack) {
  constexpr uint64_t kSeed = 5;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> texts(random.Below(9));
    std::vector<std::vector<int32_t>> lists(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      for (uint64_t j = random.Below(20); j > 0; --j) {
        texts[i] += static_cast<char>(random.Below(256));
        lists[i].push_back(static_cast<int32_t>(random.Below(1u << 30)));
      }
    }
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    std::string why;
    const std::string first = Unframed(WriteFrame(FrameKind::kDecoded, views));
    EXPECT_EQ(ParseFrame(first, why)->texts, views);
    const std::string second = Unframed(WriteFrame(FrameKind::kDecode, lists));
    EXPECT_EQ(ParseFrame(second, why)->lists, lists);
  }
}

}  // namespace
}  // namespace skerry::data
