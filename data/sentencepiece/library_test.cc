// The codec with the library behind it, in its program: what it makes is what
// the `sentencepiece` package makes, and parts are what the whole is.
#include <signal.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "data/sentencepiece/codec.h"
#include "data/sentencepiece/frames.h"
#include "data/sentencepiece/text_cuts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/posix/piped_child.h"
#include "runtime/posix/sentencepiece_program.h"

namespace skerry::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProgram[] = "data/sentencepiece/main/skerry-sentencepiece";
constexpr const char* kModels[] = {
    "llama_like", "unigram_like", "unigram_bytes", "spaced_rules",
    "suffix",     "words",        "characters"};

std::string ReadTestFile(const std::string& name) {
  std::ifstream file("data/sentencepiece/testdata/" + name, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::unique_ptr<TextCodec> Open(const std::string& name,
                                SentencePieceCodecOptions options = {},
                                const std::string& program = kProgram) {
  std::string file = ReadTestFile(name + ".model");
  const SentencePieceModel model = ParseSentencePieceModel(file).value();
  return MakeSentencePieceCodec(
      std::move(file), model, runtime::SentencePieceProgram(program), options);
}

std::vector<int32_t> Tokens(TextCodec& codec, const std::string& text) {
  std::vector<int32_t> tokens;
  const absl::Status status = codec.AppendDocument(text, tokens);
  EXPECT_TRUE(status.ok()) << status;
  return tokens;
}

TEST(SentencePieceLibraryTest, TokensAndTextsAreThoseOfThePackage) {
  for (const std::string name : kModels) {
    SCOPED_TRACE(name);
    const auto golden =
        nlohmann::json::parse(ReadTestFile(name + "_cases.json"));
    const auto codec = Open(name);
    EXPECT_EQ(codec->vocab_size(), golden["vocab_size"].get<int>());
    const auto model =
        ParseSentencePieceModel(ReadTestFile(name + ".model")).value();
    EXPECT_EQ(EndPiece(model), golden["eos"].get<int>());
    EXPECT_EQ(BeginPiece(model), golden["bos"].get<int>());
    EXPECT_EQ(UnknownPiece(model), golden["unk"].get<int>());
    int texts = 0;
    for (const auto& one : golden["cases"]) {
      const auto tokens = one["tokens"].get<std::vector<int32_t>>();
      if (one.contains("text")) {
        ++texts;
        ASSERT_EQ(Tokens(*codec, one["text"].get<std::string>()), tokens)
            << one["text"];
      }
      ASSERT_EQ(codec->Decode(tokens).value(),
                one["decoded"].get<std::string>());
    }
    EXPECT_GT(texts, 140);
  }
}

// Texts of what is hard on cuts: spaces, marks, rules across them, bytes that
// are no UTF-8.
TEST(SentencePieceLibraryTest, PartsHaveTheTokensOfTheWhole) {
  constexpr uint64_t kSeed = 9;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const std::vector<std::string> words = {
      "the",  " sea",   " boats", "\n",     " ",           "  ",     "12",
      "a b",  ". ",     "z\n",    "\u00e9", "e\u0301",     "\u6d77", "\u3000",
      "\t",   "\u200b", "\u2581", "[sea]",  "end\n",       "\xff",   "\xe6\xb5",
      "\r\n", "</s>",   "\ufdfa", "x",      "\u0438\u0306"};
  for (const std::string name : kModels) {
    SCOPED_TRACE(name);
    Random random(kSeed);
    const auto whole = Open(name);
    const auto parted = Open(name, {.part_bytes = 16});
    int parts = 0;
    for (int round = 0; round < 300; ++round) {
      std::string text;
      for (int i = 0; i < 60; ++i) text += words[random.Below(words.size())];
      for (size_t at = 0; at < text.size(); ++parts) {
        at += parted->PartEnd(std::string_view(text).substr(at), 1);
      }
      ASSERT_EQ(Tokens(*parted, text), Tokens(*whole, text)) << text;
    }
    const bool is_cut = name != "suffix" && name != "words";
    EXPECT_EQ(parts > 1000, is_cut) << parts;
  }
}

TEST(SentencePieceLibraryTest, LargeBatchesPass) {
  const auto codec = Open("llama_like", {.document_end = 2});
  std::string text;
  while (text.size() < 3'000'000) text += "the sea was calm in the morning\n";
  const size_t alone =
      Tokens(*codec, "the sea was calm in the morning\n").size();
  EXPECT_GT(Tokens(*codec, text).size(), 90'000u * (alone - 3));
  const std::vector<std::string> texts(20'000, "the sea was calm");
  std::vector<int32_t> tokens;
  ASSERT_TRUE(codec->AppendDocuments(texts, tokens).ok());
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 2), 20'000);
}

TEST(SentencePieceLibraryTest, AModelThatTheLibraryRefusesIsSaidInOneLine) {
  // Two pieces of one name.
  const std::string_view bytes =
      "\n\x09\n\x05<unk>\x18\x02\n\x05\n\x01x\x18\x01\n\x05\n\x01x\x18\x01"
      "\x12\x02\x18\x02\x1a\x02\x18\x01";
  const std::string file(bytes);
  const auto model = ParseSentencePieceModel(file);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto codec = MakeSentencePieceCodec(
      file, *model, runtime::SentencePieceProgram(kProgram), {});
  const absl::Status status = codec->Ready();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("sentencepiece does not take the model: "),
                    Not(HasSubstr("\n"))));
}

TEST(SentencePieceLibraryTest, AMissingProgramIsNamedWithWhatToDo) {
  const auto codec = Open("llama_like", {}, "/no/such/skerry-sentencepiece");
  const absl::Status status = codec->Ready();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("/no/such/skerry-sentencepiece"),
            HasSubstr("install it beside this program"), Not(HasSubstr("\n"))));
}

TEST(SentencePieceLibraryTest, AProgramThatSpeaksOtherwiseIsAnError) {
  for (const char* program : {"/bin/true", "/bin/cat"}) {
    const absl::Status status = Open("llama_like", {}, program)->Ready();
    EXPECT_TRUE(absl::IsInternal(status)) << program << ": " << status;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
  }
}

// The program's own side of the protocol.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() : child_(runtime::PipedChild::Start({kProgram}).value()) {}

  std::string Failure(std::string_view frame) {
    EXPECT_TRUE(child_->Send(frame).ok());
    std::string length;
    EXPECT_TRUE(child_->Receive(kFrameLengthBytes, length).ok());
    const auto bytes =
        FrameLength(std::span<const char, kFrameLengthBytes>(length));
    std::string answer;
    EXPECT_TRUE(child_->Receive(bytes.value(), answer).ok());
    std::string why;
    const auto parsed = ParseFrame(answer, why);
    EXPECT_TRUE(parsed.has_value()) << why;
    EXPECT_EQ(parsed->kind, FrameKind::kFailed);
    return std::string(parsed->texts[0]);
  }

  std::unique_ptr<runtime::PipedChild> child_;
};

TEST_F(ProgramTest, WhatIsNoQuestionIsAnsweredWithWhy) {
  const std::string_view texts[] = {"the sea"};
  EXPECT_EQ(Failure(*WriteFrame(FrameKind::kEncode, texts)),
            "no model has been opened");
  EXPECT_EQ(Failure(std::string("\0\0\0\0", 4)), "a frame is too short");
  std::string other = *WriteFrame(FrameKind::kOpen, texts);
  other[4] = 9;
  EXPECT_THAT(Failure(other), HasSubstr("a frame has version 9, not 1"));
  EXPECT_THAT(Failure(*WriteFrame(FrameKind::kOpen, texts)),
              HasSubstr("sentencepiece does not take the model"));
}

TEST_F(ProgramTest, AFrameThatIsTooLongEndsIt) {
  ASSERT_TRUE(child_->Send("\xff\xff\xff\xff").ok());
  std::string answer;
  EXPECT_EQ(std::string(child_->Receive(1, answer).message()),
            "skerry-sentencepiece ended with status 1: skerry-sentencepiece: a "
            "frame is too long");
}

TEST_F(ProgramTest, AKilledProgramIsReportedAndReplaced) {
  const auto codec = Open("llama_like");
  ASSERT_TRUE(codec->Ready().ok());
  kill(child_->pid(), SIGKILL);
  std::string answer;
  EXPECT_EQ(std::string(child_->Receive(1, answer).message()),
            "skerry-sentencepiece was killed by signal 9 (Killed)");
  EXPECT_FALSE(Tokens(*codec, "the sea").empty());
}

}  // namespace
}  // namespace skerry::data
