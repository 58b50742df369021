#include "trainer/core/text_stream.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

constexpr int32_t kEnd = 256;
constexpr int32_t kSpace = 257;
constexpr int32_t kWord = 258;
constexpr int32_t kSea = 259;

// As sentencepiece decodes: bytes are joined to characters, every byte that is
// in none is U+FFFD, and a text begins without its space.
class PieceCodec final : public data::TextCodec {
 public:
  int vocab_size() const override { return 260; }
  absl::Status AppendPart(std::string_view part, Place place,
                          std::vector<int32_t>& tokens) override {
    return absl::UnimplementedError("");
  }
  size_t PartEnd(std::string_view text, size_t at) const override {
    return text.size();
  }
  std::unique_ptr<data::TextCodec> Clone() const override { return nullptr; }
  absl::StatusOr<std::vector<int32_t>> Prompt(std::string_view text) override {
    return absl::UnimplementedError("");
  }
  std::optional<int32_t> document_end() const override { return kEnd; }

  absl::StatusOr<std::string> Decode(std::span<const int32_t> tokens) override {
    longest = std::max(longest, tokens.size());
    std::string text;
    for (size_t i = 0; i < tokens.size();) {
      if (tokens[i] < 256) {
        i += AppendCharacter(tokens.subspan(i), text);
        continue;
      }
      std::string_view piece;
      if (tokens[i] == kSpace) piece = " ";
      if (tokens[i] == kWord) piece = " word";
      if (tokens[i] == kSea) piece = "sea";
      if (text.empty() && piece.starts_with(' ')) piece.remove_prefix(1);
      text += piece;
      ++i;
    }
    return text;
  }

  size_t longest = 0;

 private:
  // Returns how many tokens it is made of.
  static size_t AppendCharacter(std::span<const int32_t> bytes,
                                std::string& text) {
    const int32_t lead = bytes[0];
    const size_t size = lead < 0x80                    ? 1
                        : lead >= 0xc2 && lead < 0xe0  ? 2
                        : lead >= 0xe1 && lead < 0xed  ? 3
                        : lead >= 0xf1 && lead <= 0xf3 ? 4
                                                       : 0;
    bool is_whole = size > 0 && size <= bytes.size();
    for (size_t i = 1; is_whole && i < size; ++i) {
      is_whole = bytes[i] >= 0x80 && bytes[i] < 0xc0;
    }
    if (!is_whole) {
      text += "\xef\xbf\xbd";
      return 1;
    }
    for (size_t i = 0; i < size; ++i) text += static_cast<char>(bytes[i]);
    return size;
  }
};

// What comes after the prompt, in all.
std::string Streamed(const std::vector<int32_t>& tokens, size_t prompt,
                     PieceCodec& codec) {
  const std::span<const int32_t> all = tokens;
  TextStream stream = TextStream::After(all.first(prompt), codec).value();
  std::string text;
  for (size_t i = prompt; i < tokens.size(); ++i) {
    text += stream.Add(all.first(i + 1), codec).value();
  }
  return text + stream.rest();
}

std::string Bytes(const char* text) { return text; }

TEST(TextStreamTest, AWordKeepsItsSpaceBehindAPrompt) {
  PieceCodec codec;
  EXPECT_EQ(Streamed({kSea, kWord, kWord}, 1, codec), " word word");
  // What begins a text has none.
  EXPECT_EQ(Streamed({kEnd, kWord, kWord}, 1, codec), "word word");
}

TEST(TextStreamTest, ACharacterComesWhenItIsWhole) {
  PieceCodec codec;
  const std::vector<int32_t> tokens = {kSea, 0xe6, 0xb5, 0xb7, 0xf1, 0x80};
  const std::span<const int32_t> all = tokens;
  TextStream stream = TextStream::After(all.first(1), codec).value();
  EXPECT_EQ(stream.Add(all.first(2), codec).value(), "");
  EXPECT_EQ(stream.Add(all.first(3), codec).value(), "");
  EXPECT_EQ(stream.Add(all.first(4), codec).value(), Bytes("\u6d77"));
  EXPECT_EQ(stream.Add(all.first(5), codec).value(), "");
  EXPECT_EQ(stream.Add(all, codec).value(), "");
  EXPECT_EQ(stream.rest(), Bytes("\ufffd\ufffd"));
}

TEST(TextStreamTest, WhatComesInPiecesIsWhatTheWholeSays) {
  constexpr uint64_t kSeed = 3;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  const std::vector<int32_t> alphabet = {kEnd, kSpace, kWord, kSea, 'a',
                                         0xe6, 0xb5,   0xb7,  0xf1, 0x80};
  PieceCodec codec;
  for (int round = 0; round < 500; ++round) {
    std::vector<int32_t> tokens = {kSea};
    for (int i = 0; i < 60; ++i) {
      tokens.push_back(alphabet[random.Below(alphabet.size())]);
    }
    codec.longest = 0;
    const std::string text = Streamed(tokens, 1, codec);
    EXPECT_LE(codec.longest, 40u);
    ASSERT_EQ("sea" + text, codec.Decode(tokens).value());
  }
}

TEST(TextStreamTest, TokensWithoutTextAreNotDecodedForEver) {
  PieceCodec codec;
  std::vector<int32_t> tokens(3000, kEnd);
  EXPECT_EQ(Streamed(tokens, 1, codec), "");
  EXPECT_LE(codec.longest, 256u);
}

}  // namespace
}  // namespace skerry::trainer
