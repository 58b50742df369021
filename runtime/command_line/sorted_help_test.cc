#include "runtime/command_line/sorted_help.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

using testing::HasSubstr;

// Neither addresses that rise nor addresses that fall have the order of these
// names.
constexpr const char* kNames[] = {"--d", "--b", "--f", "--a", "--e", "--c"};

class SortedHelpTest : public testing::Test {
 protected:
  SortedHelpTest() { SortHelp(app_); }

  void AddNames(CLI::App& app) {
    for (const char* name : kNames) app.add_option(name);
  }

  CLI::App app_{"Tests.", "tester"};
};

TEST_F(SortedHelpTest, NeedsHaveTheOrderOfNames) {
  AddNames(app_);
  CLI::Option* const asked = app_.add_option("--asked");
  for (const char* name : kNames) asked->needs(name);
  EXPECT_THAT(app_.help(),
              HasSubstr("--asked Needs: --a --b --c --d --e --f\n"));
}

TEST_F(SortedHelpTest, ExcludesHaveTheOrderOfNamesBehindNeeds) {
  AddNames(app_);
  CLI::Option* const needed = app_.add_option("--needed");
  CLI::Option* const asked = app_.add_option("--asked", "what it does");
  asked->needs(needed);
  for (const char* name : kNames) asked->excludes(name);
  EXPECT_THAT(app_.help(), HasSubstr("--asked Needs: --needed Excludes: --a "
                                     "--b --c --d --e --f"));
}

TEST_F(SortedHelpTest, SubcommandsSortToo) {
  CLI::App* const command = app_.add_subcommand("command");
  AddNames(*command);
  CLI::Option* const asked = command->add_option("--asked");
  for (const char* name : kNames) asked->needs(name);
  EXPECT_THAT(command->help(),
              HasSubstr("--asked Needs: --a --b --c --d --e --f\n"));
}

TEST_F(SortedHelpTest, TheRestStaysAsItIs) {
  int count = 7;
  app_.add_option("--count", count, "how many")
      ->type_name("N")
      ->capture_default_str();
  const std::string sorted = app_.help();
  app_.formatter(std::make_shared<CLI::Formatter>());
  EXPECT_EQ(sorted, app_.help());
}

}  // namespace
}  // namespace skerry::runtime
