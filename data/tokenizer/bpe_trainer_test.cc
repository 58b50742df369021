#include "data/tokenizer/bpe_trainer.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "data/tokenizer/tokenizer_json.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

using Json = nlohmann::json;

std::string ReadTestdata(const std::string& name) {
  std::ifstream file("data/tokenizer/testdata/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// As tools/gen/tokenizer_golden.py gives its text to the package.
PieceCounter CountLines(SplitPattern pattern) {
  PieceCounter pieces(pattern);
  std::istringstream text(ReadTestdata("training_text.txt"));
  for (std::string line; std::getline(text, line);) pieces.Add(line + "\n");
  return pieces;
}

TEST(BpeTrainerTest, LearnsWhatTheTokenizersPackageLearns) {
  const Json theirs = Json::parse(ReadTestdata("gpt2_like.json"));
  const auto learned = TrainBpe(
      CountLines(SplitPattern::kGpt2),
      {.vocab_size = 480, .min_frequency = 0, .specials = {"<|endoftext|>"}});
  ASSERT_TRUE(learned.ok()) << learned.status();
  const Json ours = Json::parse(TokenizerJson(*learned));
  EXPECT_EQ(ours["model"]["vocab"], theirs["model"]["vocab"]);
  EXPECT_EQ(ours["model"]["merges"], theirs["model"]["merges"]);
  EXPECT_EQ(ours["added_tokens"][0], theirs["added_tokens"][0]);
  EXPECT_EQ(ours["pre_tokenizer"], theirs["pre_tokenizer"]);
}

TEST(BpeTrainerTest, WhatIsLearnedCanBeReadAndComesBack) {
  for (const SplitPattern pattern :
       {SplitPattern::kWhole, SplitPattern::kGpt2, SplitPattern::kLlama3,
        SplitPattern::kLlama3SingleDigits}) {
    const auto learned =
        TrainBpe(CountLines(pattern),
                 {.vocab_size = 400, .min_frequency = 2, .specials = {"<e>"}});
    ASSERT_TRUE(learned.ok()) << learned.status();
    const auto tokenizer = ParseTokenizerJson(TokenizerJson(*learned));
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    const std::string text = ReadTestdata("training_text.txt");
    const std::vector<int32_t> tokens = TextEncoder(*tokenizer).Encode(text);
    EXPECT_LT(tokens.size(), text.size() * 3 / 4);
    EXPECT_EQ(tokenizer->Decode(tokens, Tokenizer::Specials::kKeep).value(),
              text);
    EXPECT_EQ(tokenizer->FindAdded("<e>"), 0);
  }
}

TEST(BpeTrainerTest, StopsWhereThePairsEnd) {
  PieceCounter pieces(SplitPattern::kGpt2);
  pieces.Add("aaaa aaaa");
  const auto all = TrainBpe(
      pieces, {.vocab_size = 1000, .min_frequency = 0, .specials = {}});
  ASSERT_TRUE(all.ok());
  // aa, aaaa, and the space before it.
  EXPECT_EQ(all->merges.size(), 3u);
  const auto frequent = TrainBpe(
      pieces, {.vocab_size = 1000, .min_frequency = 9, .specials = {}});
  EXPECT_EQ(frequent->merges.size(), 0u);
}

TEST(BpeTrainerTest, MistakesAreRefused) {
  const PieceCounter pieces(SplitPattern::kGpt2);
  for (const BpeTrainingOptions& bad :
       {BpeTrainingOptions{255, 0, {}}, BpeTrainingOptions{256, 0, {"<e>"}},
        BpeTrainingOptions{1 << 23, 0, {}},
        BpeTrainingOptions{300, 0, {"<e>", "<e>"}},
        BpeTrainingOptions{300, 0, {""}}, BpeTrainingOptions{300, 0, {"a"}}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(TrainBpe(pieces, bad).status()));
  }
}

}  // namespace
}  // namespace skerry::data
