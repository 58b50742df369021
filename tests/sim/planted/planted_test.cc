// Every planted bug is seen by a checker within its number of schedules. Those
// that are seen soonest are tried by every test run, the rest by
//
//   bazel run //tests/sim/planted:planted_test -- --gtest_filter=*
#include "tests/sim/planted/planted.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/sim/isolated.h"
#include "tests/sim/planted/plants.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {
namespace {

constexpr int kProcesses = 2;
constexpr uint64_t kBatch = 20;
// So many are tried by every test run.
constexpr size_t kSample = 5;

std::vector<PlantedBug> BugsOf(bool sample) {
  std::vector<PlantedBug> bugs = ReadPlants("tests/sim/planted/plants.txt");
  std::stable_sort(bugs.begin(), bugs.end(),
                   [](const PlantedBug& a, const PlantedBug& b) {
                     return a.within < b.within;
                   });
  const auto rest = bugs.begin() + std::min(kSample, bugs.size());
  return sample ? std::vector(bugs.begin(), rest)
                : std::vector(rest, bugs.end());
}

// The seed of a schedule that breaks because of the bug, and not without it.
struct Finding {
  uint64_t seed = 0;
  std::string violation;
};

Schedule Draw(const PlantedBug& bug, uint64_t seed) {
  return bug.profile.empty() ? DrawSchedule(seed)
                             : *DrawSchedule(seed, bug.profile);
}

Finding Find(const PlantedBug& bug) {
  Finding found;
  for (uint64_t from = 1; from <= bug.within && found.seed == 0;
       from += kBatch) {
    const uint64_t count = std::min(kBatch, bug.within + 1 - from);
    std::vector<Verdict> broken;
    planted_bug = bug.name;
    RunIsolated(
        count, kProcesses,
        [&bug, from](uint64_t index) { return Draw(bug, from + index); },
        [&broken](const Verdict& verdict) {
          if (!verdict.violation.empty()) broken.push_back(verdict);
        });
    planted_bug = "";
    std::sort(
        broken.begin(), broken.end(),
        [](const Verdict& a, const Verdict& b) { return a.seed < b.seed; });
    for (const Verdict& verdict : broken) {
      if (!RunIsolated(Draw(bug, verdict.seed)).violation.empty()) continue;
      found = {verdict.seed, verdict.violation};
      break;
    }
  }
  return found;
}

class PlantedTest : public testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedTest, IsSeen) {
  const PlantedBug& bug = GetParam();
  const Finding found = Find(bug);
  EXPECT_NE(found.seed, 0u)
      << bug.name << " was not seen in " << bug.within << " schedules";
  std::printf("%s: seen by schedule %llu: %s\n", bug.name.c_str(),
              static_cast<unsigned long long>(found.seed),
              found.violation.substr(0, found.violation.find('\n')).c_str());
}

std::string NameOf(const testing::TestParamInfo<PlantedBug>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Sample, PlantedTest, testing::ValuesIn(BugsOf(true)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Rest, PlantedTest, testing::ValuesIn(BugsOf(false)),
                         NameOf);

TEST(PlantsTest, ThereAreBugsToSee) {
  EXPECT_EQ(BugsOf(true).size(), kSample);
  EXPECT_GE(BugsOf(true).size() + BugsOf(false).size(), 30u);
}

TEST(PlantsTest, WithoutABugNoPromiseIsBroken) {
  RunIsolated(
      kBatch, kProcesses,
      [](uint64_t index) { return DrawSchedule(1 + index); },
      [](const Verdict& verdict) { EXPECT_EQ(verdict.violation, ""); });
}

}  // namespace
}  // namespace skerry::sim
