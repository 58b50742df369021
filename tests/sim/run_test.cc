#include "tests/sim/run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/sim/isolated.h"

namespace skerry::sim {
namespace {

TEST(RunTest, AQuietClusterTrainsOnEverySampleTwiceTheSameWay) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Schedule schedule = *DrawSchedule(seed, "quiet");
    const RunResult once = sim::Run(schedule);
    EXPECT_EQ(absl::StrJoin(once.violations, "\n"), "") << "seed " << seed;
    EXPECT_GT(once.commits, 4u) << "seed " << seed;
    const RunResult twice = sim::Run(schedule);
    EXPECT_EQ(twice.hash, once.hash) << "seed " << seed;
    EXPECT_EQ(twice.events, once.events) << "seed " << seed;
  }
}

TEST(RunTest, FaultsBreakNoPromise) {
  for (const Profile& profile : Profiles()) {
    for (uint64_t seed = 100; seed < 110; ++seed) {
      const Verdict verdict = RunIsolated(*DrawSchedule(seed, profile.name));
      EXPECT_EQ(verdict.violation, "")
          << "profile " << profile.name << ", seed " << seed;
    }
  }
}

TEST(RunTest, WhatWasOnceBrokenStaysFixed) {
  std::error_code none_yet;
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/sim/pinned", none_yet)) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const auto schedule = ScheduleFromText(text.str());
    ASSERT_TRUE(schedule.ok()) << entry.path() << ": " << schedule.status();
    EXPECT_EQ(RunIsolated(*schedule).violation, "") << entry.path();
  }
}

}  // namespace
}  // namespace skerry::sim
