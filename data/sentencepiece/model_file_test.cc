#include "data/sentencepiece/model_file.h"

#include <fstream>
#include <sstream>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ReadModel(const std::string& name) {
  std::ifstream file("data/sentencepiece/testdata/" + name + ".model",
                     std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string Complaint(std::string_view bytes) {
  const auto model = ParseSentencePieceModel(bytes);
  EXPECT_TRUE(absl::IsInvalidArgument(model.status())) << model.status();
  return std::string(model.status().message());
}

TEST(ModelFileTest, SettingsAreThoseItWasTrainedWith) {
  const auto llama = ParseSentencePieceModel(ReadModel("llama_like")).value();
  EXPECT_EQ(llama.algorithm, PieceAlgorithm::kBpe);
  EXPECT_TRUE(llama.byte_fallback);
  EXPECT_TRUE(llama.add_dummy_prefix);
  EXPECT_FALSE(llama.remove_extra_whitespaces);
  EXPECT_TRUE(llama.escape_whitespaces);
  EXPECT_FALSE(llama.whitespace_is_suffix);
  EXPECT_EQ(llama.charsmap, "");
  EXPECT_EQ(llama.pieces[3 + 0x0a].text, "<0x0A>");
  EXPECT_EQ(llama.pieces[3 + 0x0a].kind, PieceKind::kByte);
  const auto bytes =
      ParseSentencePieceModel(ReadModel("unigram_bytes")).value();
  EXPECT_EQ(bytes.algorithm, PieceAlgorithm::kUnigram);
  EXPECT_FALSE(bytes.add_dummy_prefix);
  EXPECT_NE(FindSpecialPiece(bytes, "[sea]"), std::nullopt);
  const auto unigram =
      ParseSentencePieceModel(ReadModel("unigram_like")).value();
  EXPECT_TRUE(unigram.remove_extra_whitespaces);
  EXPECT_GT(unigram.charsmap.size(), 1000u);
  EXPECT_TRUE(ParseSentencePieceModel(ReadModel("suffix"))
                  .value()
                  .whitespace_is_suffix);
  EXPECT_EQ(ParseSentencePieceModel(ReadModel("words")).value().algorithm,
            PieceAlgorithm::kWord);
}

TEST(ModelFileTest, SpecialPiecesAreFoundByName) {
  const auto model = ParseSentencePieceModel(ReadModel("llama_like")).value();
  EXPECT_EQ(UnknownPiece(model), 0);
  EXPECT_EQ(BeginPiece(model), 1);
  EXPECT_EQ(EndPiece(model), 2);
  EXPECT_EQ(FindSpecialPiece(model, "</s>"), 2);
  // A piece of texts, and none.
  EXPECT_EQ(FindSpecialPiece(model, "e"), std::nullopt);
  EXPECT_EQ(FindSpecialPiece(model, "</S>"), std::nullopt);
}

TEST(ModelFileTest, AModelMayCallItsEndOtherwise) {
  auto model = ParseSentencePieceModel(ReadModel("llama_like")).value();
  model.end_piece = "<s>";
  EXPECT_EQ(EndPiece(model), 1);
  model.end_piece = "e";
  EXPECT_EQ(EndPiece(model), std::nullopt);
}

// Wherever it is cut, the pieces' end and that of the settings included.
TEST(ModelFileTest, AFileThatIsCutOffIsRefusedInOneLine) {
  const std::string whole = ReadModel("llama_like");
  ASSERT_GT(whole.size(), 2000u);
  int whole_enough = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto model =
        ParseSentencePieceModel(std::string_view(whole).substr(0, size));
    // Behind the settings there is nothing that is needed.
    if (model.ok()) {
      ++whole_enough;
      continue;
    }
    EXPECT_THAT(std::string(model.status().message()),
                AllOf(HasSubstr("is no whole model of sentencepiece: "),
                      HasSubstr("; get the file anew"), Not(HasSubstr("\n"))));
  }
  EXPECT_LE(whole_enough, 2);
}

TEST(ModelFileTest, WhatIsNoModelIsRefused) {
  EXPECT_THAT(Complaint(""), HasSubstr("no pieces"));
  EXPECT_THAT(Complaint("{\"model\": {}}"), HasSubstr("no known type"));
  EXPECT_THAT(Complaint("\n\x0e\n\x05<unk>\x15\0\0"), HasSubstr("it "));
  // A piece of an unknown kind.
  const char piece[] = "\n\5\n\1a\x18\7";
  EXPECT_THAT(Complaint(std::string_view(piece, 7)),
              HasSubstr("no known kind"));
  // A number that never ends.
  EXPECT_THAT(Complaint(std::string(11, '\xff')), HasSubstr("too long"));
}

TEST(ModelFileTest, FirstBytesAreLookedAt) {
  EXPECT_TRUE(LooksLikeSentencePiece(ReadModel("llama_like")));
  EXPECT_FALSE(LooksLikeSentencePiece("{\"model\": {}}"));
  EXPECT_FALSE(LooksLikeSentencePiece("\n"));
}

}  // namespace
}  // namespace skerry::data
