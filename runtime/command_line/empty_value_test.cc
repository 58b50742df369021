#include "runtime/command_line/empty_value.h"

#include <CLI/CLI.hpp>

#include "gtest/gtest.h"
#include "runtime/command_line/parse_words.h"

namespace skerry::runtime {
namespace {

class EmptyValueTest : public testing::Test {
 protected:
  EmptyValueTest() {
    app_.add_option("--state", state_)->required();
    app_.add_option("--island,-i", island_);
    app_.add_flag("--quiet", quiet_);
    CLI::App* const sample = app_.add_subcommand("sample");
    sample->add_option("MODEL", model_);
    sample->add_option("--prompt", prompts_);
  }

  // The line that says what is wrong, or nothing.
  std::string Parse(std::vector<std::string> words) {
    const auto ended = ParseWords(app_, std::move(words));
    return ended.has_value() ? ended->text : "";
  }

  CLI::App app_{"Tests.", "tester"};
  std::string state_;
  std::string island_;
  bool quiet_ = false;
  std::string model_;
  std::vector<std::string> prompts_;
};

TEST_F(EmptyValueTest, ValuesAreTaken) {
  EXPECT_EQ(Parse({"--state", "s", "--quiet", "sample", "m", "--prompt", "p"}),
            "");
}

TEST_F(EmptyValueTest, ARequiredOptionIsNamed) {
  EXPECT_EQ(Parse({"--state", ""}),
            "tester: --state is empty: give it a value (see tester --help)\n");
}

TEST_F(EmptyValueTest, AnotherOneMayBeLeftOut) {
  EXPECT_EQ(Parse({"--state", "s", "-i", ""}),
            "tester: --island is empty: give it a value, or leave it out (see "
            "tester --help)\n");
}

TEST_F(EmptyValueTest, ArgumentsOfSubcommandsCount) {
  EXPECT_EQ(Parse({"--state", "s", "sample", ""}),
            "tester: MODEL is empty: give it a value, or leave it out (see "
            "tester --help)\n");
}

TEST_F(EmptyValueTest, AnyOfSeveralValuesCountsUnlessTextIsTaken) {
  app_.parse(std::vector<std::string>{"", "--prompt", "p", "--prompt", "m",
                                      "sample", "s", "--state"});
  EXPECT_EQ(ExplainEmptyValue(app_),
            "--prompt is empty: give it a value, or leave it out");
  EXPECT_EQ(ExplainEmptyValue(app_, {"--prompt"}), "");
}

}  // namespace
}  // namespace skerry::runtime
