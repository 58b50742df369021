#include "runtime/command_line/word_option.h"

#include <optional>

#include "gtest/gtest.h"
#include "runtime/command_line/parse_words.h"

namespace skerry::runtime {
namespace {

enum class Colour { kRed, kGreen, kBlue };

class WordOptionTest : public testing::Test {
 protected:
  WordOptionTest() {
    const std::map<std::string, Colour> colours = {{"red", Colour::kRed},
                                                   {"green", Colour::kGreen},
                                                   {"blue", Colour::kBlue}};
    AddWord(app_, "--colour", colour_, colours, "of it");
    AddWord(app_, "--other", other_, colours, "or none");
  }

  // The line that says what is wrong, or nothing.
  std::string Parse(std::vector<std::string> words) {
    const auto ended = ParseWords(app_, std::move(words));
    return ended.has_value() ? ended->text : "";
  }

  CLI::App app_{"Tests.", "tester"};
  Colour colour_ = Colour::kGreen;
  std::optional<Colour> other_;
};

TEST_F(WordOptionTest, WordsAreTaken) {
  EXPECT_EQ(Parse({"--colour", "blue", "--other=red"}), "");
  EXPECT_EQ(colour_, Colour::kBlue);
  EXPECT_EQ(other_, Colour::kRed);
}

TEST_F(WordOptionTest, WhatIsNotGivenStays) {
  EXPECT_EQ(Parse({}), "");
  EXPECT_EQ(colour_, Colour::kGreen);
  EXPECT_FALSE(other_.has_value());
}

TEST_F(WordOptionTest, AnotherWordIsRefusedWithAllThatThereAre) {
  for (const char* word : {"pink", "", "Red", "0"}) {
    EXPECT_EQ(Parse({"--colour", word}),
              absl::StrCat("tester: --colour: has to be blue, green or red, "
                           "not \"",
                           word, "\" (see tester --help)\n"));
  }
  EXPECT_EQ(colour_, Colour::kGreen);
}

}  // namespace
}  // namespace skerry::runtime
