#include "data/tokenizer_file.h"

#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;

std::string ReadTestFile(const std::string& path) {
  std::ifstream file("data/" + path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string Complaint(std::string bytes) {
  const auto file = TokenizerFile::Parse(std::move(bytes));
  EXPECT_TRUE(absl::IsInvalidArgument(file.status())) << file.status();
  return std::string(file.status().message());
}

TEST(TokenizerFileTest, ATokenizerJsonSaysWhatItIs) {
  const std::string bytes = ReadTestFile("tokenizer/testdata/llama3_like.json");
  auto file = TokenizerFile::Parse(bytes).value();
  EXPECT_EQ(file.name(), "tokenizer.json");
  EXPECT_EQ(file.bytes(), bytes);
  const auto end = file.UsualDocumentEnd();
  EXPECT_EQ(end, file.FindSpecial("<|end_of_text|>"));
  const auto codec = std::move(file).MakeCodec(end, nullptr).value();
  EXPECT_EQ(codec->document_end(), end);
  EXPECT_FALSE(codec->Prompt("sea").value().empty());
}

TEST(TokenizerFileTest, AModelOfSentencePieceSaysWhatItIs) {
  const std::string bytes =
      ReadTestFile("sentencepiece/testdata/llama_like.model");
  auto file = TokenizerFile::Parse(bytes).value();
  EXPECT_EQ(file.name(), "tokenizer.model");
  EXPECT_EQ(file.bytes(), bytes);
  EXPECT_EQ(file.vocab_size(), 620);
  EXPECT_EQ(file.UsualDocumentEnd(), 2);
  EXPECT_EQ(file.FindSpecial("<s>"), 1);
  EXPECT_EQ(file.FindSpecial("the"), std::nullopt);
  const auto codec = std::move(file).MakeCodec(
      2, [] { return absl::FailedPreconditionError("none here"); });
  ASSERT_TRUE(codec.ok()) << codec.status();
  EXPECT_EQ((*codec)->vocab_size(), 620);
  EXPECT_EQ((*codec)->document_end(), 2);
  EXPECT_EQ((*codec)->Ready().message(), "none here");
}

TEST(TokenizerFileTest, AnEndThatIsNoTokenIsRefused) {
  for (const char* path : {"tokenizer/testdata/llama3_like.json",
                           "sentencepiece/testdata/llama_like.model"}) {
    auto file = TokenizerFile::Parse(ReadTestFile(path)).value();
    EXPECT_TRUE(absl::IsInvalidArgument(
        std::move(file).MakeCodec(9999, nullptr).status()));
  }
}

TEST(TokenizerFileTest, OtherFilesAreRefusedByWhatTheyAre) {
  EXPECT_THAT(Complaint(""), HasSubstr("is neither"));
  EXPECT_THAT(Complaint("\x7f"
                        "ELF"),
              HasSubstr("is neither"));
  EXPECT_THAT(Complaint("[]"), HasSubstr("is neither"));
  EXPECT_THAT(Complaint("IQ== 0\nIg== 1\n"), HasSubstr("tiktoken"));
  EXPECT_THAT(Complaint("{\"model\": 3}"), HasSubstr("tokenizer.json: "));
  const std::string model =
      ReadTestFile("sentencepiece/testdata/llama_like.model");
  EXPECT_THAT(Complaint(model.substr(0, model.size() / 2)),
              HasSubstr("no whole model of sentencepiece"));
}

}  // namespace
}  // namespace skerry::data
