#include "data/tokenizer/text_codec.h"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "data/tokenizer/tokenizer_json.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

Tokenizer Open(const std::string& kind) {
  std::ifstream file("data/tokenizer/testdata/" + kind + ".json");
  std::ostringstream text;
  text << file.rdbuf();
  return ParseTokenizerJson(text.str()).value();
}

std::vector<int32_t> Document(TextCodec& codec, const std::string& text) {
  std::vector<int32_t> tokens;
  EXPECT_TRUE(codec.AppendDocument(text, tokens).ok());
  return tokens;
}

TEST(TextCodecTest, BytesHaveNoEnd) {
  const auto codec = MakeByteCodec();
  EXPECT_EQ(codec->vocab_size(), 256);
  EXPECT_EQ(Document(*codec, "a\xff"), (std::vector<int32_t>{97, 255}));
  EXPECT_EQ(codec->Prompt("").value(), (std::vector<int32_t>{10}));
  EXPECT_EQ(codec->Decode({{97, 255}}).value(), "a\xff");
  EXPECT_EQ(codec->document_end(), std::nullopt);
}

TEST(TextCodecTest, DocumentsOfGpt2EndWithTheirMark) {
  Tokenizer tokenizer = Open("gpt2_like");
  const auto end = UsualDocumentEnd(tokenizer);
  EXPECT_EQ(end, 0);
  const auto codec = MakeTokenizerCodec(std::move(tokenizer), end).value();
  const std::vector<int32_t> tokens = Document(*codec, "the sea");
  EXPECT_EQ(tokens.back(), 0);
  // A prompt is a document that has not ended.
  EXPECT_EQ(codec->Prompt("the sea").value(),
            std::vector<int32_t>(tokens.begin(), tokens.end() - 1));
  EXPECT_EQ(codec->Prompt("").value(), (std::vector<int32_t>{0}));
  EXPECT_EQ(codec->Decode(tokens).value(), "the sea");
}

TEST(TextCodecTest, DocumentsOfLlama3StandBetweenTheirMarks) {
  Tokenizer tokenizer = Open("llama3_like");
  const int32_t begin = tokenizer.FindAdded("<|begin_of_text|>").value();
  const auto end = UsualDocumentEnd(tokenizer);
  EXPECT_EQ(end, tokenizer.FindAdded("<|end_of_text|>"));
  const auto codec = MakeTokenizerCodec(std::move(tokenizer), end).value();
  const std::vector<int32_t> tokens = Document(*codec, "sea");
  EXPECT_EQ(tokens.front(), begin);
  EXPECT_EQ(tokens.back(), end);
  EXPECT_EQ(codec->Prompt("").value(), (std::vector<int32_t>{begin}));
}

TEST(TextCodecTest, WithoutMarksAnEmptyPromptIsALineBreak) {
  const auto codec =
      MakeTokenizerCodec(Open("gpt2_like"), std::nullopt).value();
  EXPECT_EQ(codec->Decode(codec->Prompt("").value()).value(), "\n");
}

TEST(TextCodecTest, PartsHaveTheTokensOfTheWhole) {
  constexpr uint64_t kSeed = 7;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  const std::vector<std::string> words = {
      "the",   " sea",          " boats",        "\n",      "  ",   "12",
      "!",     "<|endoftext|>", "\u00e9t\u00e9", " \u3042", "\r\n", "e\u0301",
      "\u0323"};
  for (const char* kind : {"gpt2_like", "llama3_like", "qwen2_like"}) {
    Tokenizer tokenizer = Open(kind);
    const auto end = UsualDocumentEnd(tokenizer);
    const auto codec = MakeTokenizerCodec(std::move(tokenizer), end).value();
    const auto other = codec->Clone();
    int parts = 0;
    for (int round = 0; round < 300; ++round) {
      std::string text;
      for (int i = 0; i < 20; ++i) text += words[random.Below(words.size())];
      std::vector<int32_t> tokens;
      for (size_t at = 0; at < text.size(); ++parts) {
        const size_t stop = codec->PartEnd(text, at + 1 + random.Below(9));
        ASSERT_TRUE(other
                        ->AppendPart(text.substr(at, stop - at),
                                     {at == 0, stop == text.size()}, tokens)
                        .ok());
        at = stop;
      }
      ASSERT_EQ(tokens, Document(*codec, text)) << text;
    }
    EXPECT_GT(parts, 1000) << kind;
  }
}

TEST(TextCodecTest, DocumentsFollowOneAnother) {
  Tokenizer tokenizer = Open("gpt2_like");
  const auto end = UsualDocumentEnd(tokenizer);
  const auto codec = MakeTokenizerCodec(std::move(tokenizer), end).value();
  const std::vector<std::string> texts = {"the sea", "", "boats"};
  std::vector<int32_t> together;
  ASSERT_TRUE(codec->AppendDocuments(texts, together).ok());
  std::vector<int32_t> apart;
  for (const std::string& text : texts) {
    ASSERT_TRUE(codec->AppendDocument(text, apart).ok());
  }
  EXPECT_EQ(together, apart);
}

TEST(TextCodecTest, BytesArePartedAnywhere) {
  const auto codec = MakeByteCodec();
  EXPECT_EQ(codec->PartEnd("abc", 2), 2u);
  EXPECT_EQ(codec->PartEnd("abc", 9), 3u);
}

TEST(TextCodecTest, AnEndThatIsNoTokenIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      MakeTokenizerCodec(Open("gpt2_like"), 9999).status()));
}

}  // namespace
}  // namespace skerry::data
