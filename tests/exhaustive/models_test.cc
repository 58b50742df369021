// Every order of events within small bounds, on the coordinator's real core. A
// model that is too large to be finished is searched as far as it is said.
#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "tests/exhaustive/search.h"

namespace skerry::exhaustive {
namespace {

void Expect(const char* name, const Scenario& scenario, uint64_t states_max) {
  const Explored explored = Explore(scenario, states_max);
  std::printf("%s: %llu states, %llu steps, %llu followed to the end%s\n", name,
              static_cast<unsigned long long>(explored.states),
              static_cast<unsigned long long>(explored.steps),
              static_cast<unsigned long long>(explored.ends),
              explored.complete ? "; complete" : "");
  std::string way;
  for (const std::string& step : explored.path) way += "\n  " + step;
  EXPECT_EQ(explored.broken, "") << "after" << way;
}

// A coordinator's crash at every step, attempts that run out, a worker that
// dies at any moment and comes back.
TEST(ModelsTest, AttemptsAndCommit) {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.spans = 2;
  scenario.budget = {.coordinator_crashes = 1, .kills = 1, .deadlines = 1};
  Expect("attempts and commit", scenario, 60'000);
}

// Two replicas of two workers each, which hold a span each.
TEST(ModelsTest, ReplicasOfTwo) {
  Scenario scenario;
  scenario.islands = {"a", "a", "b"};
  scenario.spans = 2;
  scenario.budget = {.kills = 1};
  Expect("replicas of two", scenario, 60'000);
}

// A worker joins while the others go on and forget.
TEST(ModelsTest, JoinAndRetention) {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.samples = 3;
  scenario.budget = {.kills = 2, .late = 1};
  Expect("join and retention", scenario, 60'000);
}

TEST(ModelsTest, RestoreAfterDiskLoss) {
  Scenario scenario;
  scenario.islands = {"a"};
  scenario.samples = 2;
  scenario.saves = true;
  scenario.budget = {.coordinator_crashes = 1, .kills = 2, .disk_losses = 2};
  Expect("restore after disk loss", scenario, 60'000);
}

// Two members, two results of one attempt, nobody knows who is right.
TEST(ModelsTest, BlameAndHashTies) {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.budget = {.coordinator_crashes = 1, .deadlines = 1, .lies = 1};
  Expect("blame and hash ties", scenario, 60'000);
}

// The two others agree, and the third's life ends.
TEST(ModelsTest, OneOfThreeIsWrong) {
  Scenario scenario;
  scenario.islands = {"a", "b", "c"};
  scenario.samples = 3;
  scenario.budget = {.deadlines = 1, .lies = 1};
  Expect("one of three is wrong", scenario, 60'000);
}

}  // namespace
}  // namespace skerry::exhaustive
