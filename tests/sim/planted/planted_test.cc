// Every planted bug is seen by a checker within a stated number of schedules.
#include "tests/sim/planted/planted.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/sim/isolated.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {
namespace {

constexpr int kProcesses = 2;
constexpr uint64_t kBatch = 20;

struct Bug {
  const char* name;
  // Schedules within which it has to be seen.
  uint64_t schedules;
};

const std::vector<Bug>& Bugs() {
  static const auto* const bugs = new std::vector<Bug>{
      {"report_before_disk", 100},    {"owner_error_is_dropped", 100},
      {"life_keeps_owed", 200},       {"frames_of_any_attempt", 1000},
      {"each_rank_cuts_alone", 1000}, {"orders_before_sync", 20},
      {"snapshot_forgets_open", 500}, {"staleness_is_not_tested", 1000},
      {"named_samples_return", 500},
  };
  return *bugs;
}

class PlantedTest : public testing::TestWithParam<Bug> {};

TEST_P(PlantedTest, IsSeen) {
  const Bug bug = GetParam();
  planted_bug = bug.name;
  uint64_t ran = 0;
  std::string seen;
  // Breaks because of the bug, and not without it.
  const auto is_due_to_bug = [&bug](const Verdict& verdict) {
    if (verdict.violation.empty()) return false;
    planted_bug = "";
    const Verdict without = RunIsolated(DrawSchedule(verdict.seed));
    planted_bug = bug.name;
    return without.violation.empty();
  };
  for (uint64_t from = 1; from <= bug.schedules && seen.empty();
       from += kBatch) {
    RunIsolated(
        kBatch, kProcesses,
        [from](uint64_t index) { return DrawSchedule(from + index); },
        [&](const Verdict& verdict) {
          ++ran;
          if (seen.empty() && is_due_to_bug(verdict)) seen = verdict.violation;
        });
  }
  planted_bug = "";
  EXPECT_NE(seen, "") << bug.name << " was not seen in " << ran << " schedules";
  std::printf("%s: seen within %d schedules: %s\n", bug.name,
              static_cast<int>(ran), seen.substr(0, seen.find('\n')).c_str());
}

INSTANTIATE_TEST_SUITE_P(AllBugs, PlantedTest, testing::ValuesIn(Bugs()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(PlantsTest, EveryBugOfTheListIsTried) {
  std::ifstream file("tests/sim/planted/plants.txt");
  std::set<std::string> listed;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word, name;
    if (words >> word >> name && word == "plant") listed.insert(name);
  }
  std::set<std::string> tried;
  for (const Bug& bug : Bugs()) tried.insert(bug.name);
  EXPECT_EQ(tried, listed);
  EXPECT_GE(listed.size(), 5u);
}

TEST(PlantsTest, WithoutABugNoPromiseOfSafetyIsBroken) {
  RunIsolated(
      kBatch, kProcesses,
      [](uint64_t index) { return DrawSchedule(1 + index); },
      [](const Verdict& verdict) {
        EXPECT_TRUE(verdict.violation.empty() ||
                    verdict.violation.starts_with("liveness: "))
            << verdict.violation;
      });
}

}  // namespace
}  // namespace skerry::sim
