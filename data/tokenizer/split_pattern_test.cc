#include "data/tokenizer/split_pattern.h"

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using Pieces = std::vector<std::string>;

Pieces Split(SplitPattern pattern, const std::string& text) {
  Pieces pieces;
  for (size_t at = 0; at < text.size();) {
    const size_t end = PieceEnd(pattern, text, at);
    EXPECT_GT(end, at);
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

Pieces Gpt2(const std::string& text) {
  return Split(SplitPattern::kGpt2, text);
}
Pieces Llama3(const std::string& text) {
  return Split(SplitPattern::kLlama3, text);
}

TEST(SplitPatternTest, Gpt2KeepsOneSpaceBeforeAWord) {
  EXPECT_EQ(Gpt2("we've  12 fish!!"),
            (Pieces{"we", "'ve", " ", " 12", " fish", "!!"}));
  EXPECT_EQ(Gpt2("a\n\n b  "), (Pieces{"a", "\n\n", " b", "  "}));
  EXPECT_EQ(Gpt2("WE'VE"), (Pieces{"WE", "'", "VE"}));
  EXPECT_EQ(Gpt2("'\u017f"), (Pieces{"'", "\u017f"}));
}

TEST(SplitPatternTest, Llama3TakesAnyMarkBeforeAWordAndThreeDigits) {
  EXPECT_EQ(Llama3("(sea) 12345\tx"),
            (Pieces{"(sea", ")", " ", "123", "45", "\tx"}));
  EXPECT_EQ(Llama3("WE'VE 'S"), (Pieces{"WE", "'VE", " '", "S"}));
  EXPECT_EQ(Llama3("'\u017fx"), (Pieces{"'\u017f", "x"}));
  EXPECT_EQ(Llama3("!!\r\n\n x"), (Pieces{"!!\r\n\n", " x"}));
  EXPECT_EQ(Llama3("a \n  \n  b"), (Pieces{"a", " \n  \n", " ", " b"}));
  EXPECT_EQ(Llama3("\nb"), (Pieces{"\n", "b"}));
  EXPECT_EQ(Split(SplitPattern::kLlama3SingleDigits, "12"), (Pieces{"1", "2"}));
}

TEST(SplitPatternTest, WholeTextsAreOnePiece) {
  EXPECT_EQ(Split(SplitPattern::kWhole, "a b\n"), (Pieces{"a b\n"}));
}

TEST(SplitPatternTest, BytesThatAreNoTextAreKept) {
  EXPECT_EQ(Gpt2("a\xff\xfe"), (Pieces{"a", "\xff\xfe"}));
  EXPECT_EQ(Llama3("\xc3"), (Pieces{"\xc3"}));
}

TEST(SplitPatternTest, PiecesOnBothSidesOfAFirmEndAreThoseOfTheWhole) {
  constexpr uint64_t kSeed = 7;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  // What ends, begins and stretches pieces.
  const std::vector<std::string> words = {
      "a",      "Sea",    "7",  "123",  " ",       "  ",     "\n",
      "\r\n",   "\t",     "!",  "'s",   "'",       "\u00e9", "\u3000",
      "\u3042", "\u0660", "?!", "\xff", "\xe3\x81"};
  int ends = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += words[random.Below(words.size())];
    for (const SplitPattern pattern :
         {SplitPattern::kGpt2, SplitPattern::kLlama3,
          SplitPattern::kLlama3SingleDigits}) {
      for (size_t at = 0; at <= text.size(); ++at) {
        if (!IsFirmEnd(pattern, text, at)) continue;
        ++ends;
        Pieces apart = Split(pattern, text.substr(0, at));
        for (std::string& piece : Split(pattern, text.substr(at))) {
          apart.push_back(std::move(piece));
        }
        ASSERT_EQ(Split(pattern, text), apart) << "cut at " << at;
      }
    }
  }
  EXPECT_GT(ends, 500);
}

TEST(SplitPatternTest, NothingIsFirmInsideAWordOrAmongSpaces) {
  const std::string text = "ab  cd";
  for (size_t at = 0; at <= text.size(); ++at) {
    EXPECT_FALSE(IsFirmEnd(SplitPattern::kGpt2, text, at)) << at;
  }
  EXPECT_TRUE(IsFirmEnd(SplitPattern::kGpt2, "ab cd", 2));
  EXPECT_TRUE(IsFirmEnd(SplitPattern::kLlama3, "ab\ncd", 3));
  EXPECT_FALSE(IsFirmEnd(SplitPattern::kWhole, "ab cd", 2));
}

TEST(SplitPatternTest, ExpressionsAreFoundByTheirText) {
  EXPECT_EQ(FindSplitPattern(kGpt2Pattern), SplitPattern::kGpt2);
  EXPECT_EQ(FindSplitPattern(kLlama3Pattern), SplitPattern::kLlama3);
  EXPECT_EQ(FindSplitPattern(kLlama3SingleDigitsPattern),
            SplitPattern::kLlama3SingleDigits);
  EXPECT_EQ(FindSplitPattern(R"(\w+)"), std::nullopt);
}

}  // namespace
}  // namespace skerry::data
