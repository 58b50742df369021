#include "data/tokenizer/text_codec.h"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
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
  codec.AppendDocument(text, tokens);
  return tokens;
}

TEST(TextCodecTest, BytesHaveNoEnd) {
  const auto codec = MakeByteCodec();
  EXPECT_EQ(codec->vocab_size(), 256);
  EXPECT_EQ(Document(*codec, "a\xff"), (std::vector<int32_t>{97, 255}));
  EXPECT_EQ(codec->Prompt(""), (std::vector<int32_t>{10}));
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
  EXPECT_EQ(codec->Prompt("the sea"),
            std::vector<int32_t>(tokens.begin(), tokens.end() - 1));
  EXPECT_EQ(codec->Prompt(""), (std::vector<int32_t>{0}));
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
  EXPECT_EQ(codec->Prompt(""), (std::vector<int32_t>{begin}));
}

TEST(TextCodecTest, WithoutMarksAnEmptyPromptIsALineBreak) {
  const auto codec =
      MakeTokenizerCodec(Open("gpt2_like"), std::nullopt).value();
  EXPECT_EQ(codec->Decode(codec->Prompt("")).value(), "\n");
}

TEST(TextCodecTest, AnEndThatIsNoTokenIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      MakeTokenizerCodec(Open("gpt2_like"), 9999).status()));
}

}  // namespace
}  // namespace skerry::data
