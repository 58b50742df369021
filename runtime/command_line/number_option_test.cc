#include "runtime/command_line/number_option.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command_line/parse_words.h"

namespace skerry::runtime {
namespace {

using testing::ElementsAre;

class NumberOptionTest : public testing::Test {
 protected:
  NumberOptionTest() {
    AddNumber(app_, "--seed", seed_, {}, "of the draw")->capture_default_str();
    AddNumber(app_, "--share", share_, {0, 1}, "of it");
    AddNumber(app_, "--vocab", vocab_, {1, 9}, "or none");
    AddNumbers(app_, "--tau", taus_, {1, 100}, "rounds");
  }

  // The line that says what is wrong, or nothing.
  std::string Parse(std::vector<std::string> words) {
    const auto ended = ParseWords(app_, std::move(words));
    return ended.has_value() ? ended->text : "";
  }

  CLI::App app_{"Tests.", "tester"};
  uint64_t seed_ = 7;
  double share_ = 0.5;
  std::optional<int> vocab_;
  std::vector<uint32_t> taus_ = {1};
};

TEST_F(NumberOptionTest, NumbersWithinBoundsAreTaken) {
  EXPECT_EQ(Parse({"--seed", "18446744073709551615", "--share=0.25", "--vocab",
                   "9", "--tau", "2,3"}),
            "");
  EXPECT_EQ(seed_, UINT64_MAX);
  EXPECT_EQ(share_, 0.25);
  EXPECT_EQ(vocab_, 9);
  EXPECT_THAT(taus_, ElementsAre(2, 3));
}

TEST_F(NumberOptionTest, WhatIsNotGivenKeepsItsValue) {
  EXPECT_EQ(Parse({}), "");
  EXPECT_EQ(seed_, 7u);
  EXPECT_FALSE(vocab_.has_value());
  EXPECT_THAT(taus_, ElementsAre(1));
}

TEST_F(NumberOptionTest, ANegativeNumberDoesNotWrapRound) {
  EXPECT_EQ(Parse({"--seed", "-1"}),
            "tester: --seed: has to be a whole number from 0 to "
            "18446744073709551615, not \"-1\" (see tester --help)\n");
  EXPECT_EQ(seed_, 7u);
}

TEST_F(NumberOptionTest, EveryNumberOfAListIsChecked) {
  EXPECT_EQ(Parse({"--tau", "5,101"}),
            "tester: --tau: has to be a whole number from 1 to 100, not "
            "\"101\" (see tester --help)\n");
  EXPECT_EQ(Parse({"--tau", "5,-1"}),
            "tester: --tau: has to be a whole number from 1 to 100, not "
            "\"-1\" (see tester --help)\n");
}

TEST_F(NumberOptionTest, ASharesBoundsAreRealNumbers) {
  for (const char* text : {"-0.1", "1.1", "nan", "inf", "1e300", "half"}) {
    EXPECT_EQ(Parse({"--share", text}),
              absl::StrCat("tester: --share: has to be a number from 0 to 1, "
                           "not \"",
                           text, "\" (see tester --help)\n"));
  }
}

TEST_F(NumberOptionTest, AnUnknownArgumentIsOneLineAndCodeTwo) {
  const auto ended = ParseWords(app_, {"--colour", "red"});
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->exit_code, kUsageExit);
  EXPECT_EQ(ended->text,
            "tester: The following arguments were not expected: red --colour "
            "(see tester --help)\n");
}

TEST_F(NumberOptionTest, HelpShowsTheDefault) {
  const auto ended = ParseWords(app_, {"--help"});
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->exit_code, 0);
  EXPECT_THAT(ended->text, testing::ContainsRegex("--seed N=7 +of the draw"));
}

}  // namespace
}  // namespace skerry::runtime
