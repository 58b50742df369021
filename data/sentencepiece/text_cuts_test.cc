// Where texts are cut; library_test asks the library whether that is right.
#include "data/sentencepiece/text_cuts.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace skerry::data {
namespace {

TextCuts Open(const std::string& name) {
  std::ifstream file("data/sentencepiece/testdata/" + name + ".model",
                     std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return TextCuts(ParseSentencePieceModel(bytes.str()).value());
}

// All places, and where there is none the text's end alone.
std::set<size_t> CutsIn(const TextCuts& cuts, std::string_view text) {
  std::set<size_t> found;
  for (size_t at = 2; at < text.size(); ++at) {
    found.insert(cuts.Next(text, at));
  }
  found.erase(text.size());
  return found;
}

TEST(TextCutsTest, WordsAreCutBeforeTheirSpace) {
  const std::string text = "the sea  was\nhere ";
  // Not inside spaces; the line feed is one of the model's own tokens.
  EXPECT_EQ(CutsIn(Open("llama_like"), text), (std::set<size_t>{3, 7, 12}));
  // A line feed is a space, and spaces are one.
  EXPECT_EQ(CutsIn(Open("unigram_like"), text),
            (std::set<size_t>{3, 7, 8, 12}));
}

TEST(TextCutsTest, WhatTheLibraryPutsBeforeAPartIsUndone) {
  const TextCuts llama = Open("llama_like");
  EXPECT_EQ(llama.BeginningOf(" sea").skipped, 1u);
  EXPECT_FALSE(llama.BeginningOf(" sea").drops_first);
  EXPECT_EQ(llama.BeginningOf("\nsea").skipped, 0u);
  EXPECT_TRUE(llama.BeginningOf("\nsea").drops_first);
  const TextCuts unigram = Open("unigram_like");
  EXPECT_EQ(unigram.BeginningOf("\nsea").skipped, 1u);
  EXPECT_FALSE(unigram.BeginningOf("\nsea").drops_first);
  // It puts nothing before a text.
  const TextCuts bytes = Open("unigram_bytes");
  EXPECT_EQ(bytes.BeginningOf(" sea").skipped, 0u);
  EXPECT_FALSE(bytes.BeginningOf("\nsea").drops_first);
}

TEST(TextCutsTest, RulesAcrossASpaceForbidACut) {
  const TextCuts cuts = Open("spaced_rules");
  EXPECT_EQ(CutsIn(cuts, "the sea. was"), (std::set<size_t>{3}));
  EXPECT_EQ(CutsIn(cuts, "xa boat"), (std::set<size_t>{}));
  EXPECT_EQ(CutsIn(cuts, "abc\nd\nz\ne"), (std::set<size_t>{3, 5}));
  // Nor behind spaces that a rule has written.
  EXPECT_EQ(CutsIn(cuts, "the sea.  was"), (std::set<size_t>{3}));
  // Where the rule is not there, a cut is.
  EXPECT_EQ(CutsIn(Open("unigram_like"), "xa boat"), (std::set<size_t>{2}));
}

TEST(TextCutsTest, UserDefinedPiecesStayWhole) {
  const TextCuts cuts = Open("unigram_bytes");
  EXPECT_EQ(CutsIn(cuts, "the end\nof it\nso"), (std::set<size_t>{3, 10, 13}));
}

TEST(TextCutsTest, NoCutStandsBehindAMarkThatIsWritten) {
  EXPECT_EQ(CutsIn(Open("unigram_like"), "the\u2581 sea it"),
            (std::set<size_t>{10}));
  // Nor where the library trims all marks before it.
  EXPECT_EQ(CutsIn(Open("unigram_like"), "the\u2581\t sea it"),
            (std::set<size_t>{11}));
}

TEST(TextCutsTest, SomeModelsAllowNone) {
  for (const char* name : {"suffix", "words"}) {
    EXPECT_EQ(CutsIn(Open(name), "the sea was here\nthe end"),
              (std::set<size_t>{}))
        << name;
  }
  EXPECT_FALSE(CutsIn(Open("characters"), "the sea was").empty());
}

TEST(TextCutsTest, RulesThatAreNoneAreLeftToTheLibrary) {
  SentencePieceModel model;
  model.pieces = {{"<unk>", PieceKind::kUnknown},
                  {"\u2581", PieceKind::kNormal}};
  for (const std::string& charsmap :
       {std::string("\x01"), std::string("\xff\xff\xff\x7f"),
        std::string("\x04\0\0\0\xff\xff\xff\x7f", 8),
        std::string("\x03\0\0\0abc", 7)}) {
    model.charsmap = charsmap;
    EXPECT_EQ(TextCuts(model).Next("the sea", 2), 3u);
  }
}

}  // namespace
}  // namespace skerry::data
