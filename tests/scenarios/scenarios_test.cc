// Plays every file *.scenario of this folder.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/scenarios/scenario.h"

namespace skerry::scenarios {
namespace {

using ::testing::HasSubstr;

constexpr char kFolder[] = "tests/scenarios";
constexpr char kSuffix[] = ".scenario";

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == kSuffix) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status Play(const Scenario& scenario) {
  const std::unique_ptr<Stage> stage = MakeStage(scenario.stage);
  if (stage == nullptr) {
    return absl::InvalidArgumentError("there is no stage " + scenario.stage);
  }
  for (const Step& step : scenario.steps) {
    const absl::Status done = stage->Do(step);
    if (!done.ok()) return done;
  }
  return absl::OkStatus();
}

class ScenariosTest : public testing::TestWithParam<std::string> {};

TEST_P(ScenariosTest, Holds) {
  std::ifstream file(std::string(kFolder) + "/" + GetParam() + kSuffix);
  std::stringstream text;
  text << file.rdbuf();
  const auto scenario = ParseScenario(text.str());
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  const absl::Status played = Play(*scenario);
  EXPECT_TRUE(played.ok()) << played << "\nseen: " << scenario->seen
                           << "\nrule: " << scenario->rule;
}

INSTANTIATE_TEST_SUITE_P(, ScenariosTest, testing::ValuesIn(Names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

absl::Status PlayText(const std::string& stage, const std::string& steps) {
  const auto scenario =
      ParseScenario("seen: x\nrule: y\nstage: " + stage + "\nsteps:\n" + steps);
  return scenario.ok() ? Play(*scenario) : scenario.status();
}

// A scenario that is not understood must not pass.
TEST(ScenarioFormatTest, WhatIsNotUnderstoodFails) {
  EXPECT_TRUE(absl::IsInvalidArgument(PlayText("theatre", "run\n")));
  for (const char* stage : {"recovery", "retention", "seats"}) {
    const absl::Status status = PlayText(stage, "\ndo as you like\n");
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << stage << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("line 6: do as you like"));
  }
  EXPECT_FALSE(ParseScenario("seen: x\nstage: seats\nsteps:\nrun\n").ok());
  EXPECT_FALSE(ParseScenario("colour: red\n").ok());
}

TEST(ScenarioFormatTest, AnExpectationThatDoesNotHoldFailsWithWhatWasFound) {
  const absl::Status status = PlayText("retention",
                                       "replica a of w0\n"
                                       "w0 holds base 8\n"
                                       "expect keep from 4\n");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expect keep from 4: found keep from 8"));
}

}  // namespace
}  // namespace skerry::scenarios
