#include "tests/exhaustive/scenarios.h"

namespace skerry::exhaustive {

Scenario AttemptsAndCommit() {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.spans = 2;
  scenario.samples = 6;
  scenario.commits_max = 2;
  scenario.budget = {.coordinator_crashes = 1, .deadlines = 2};
  return scenario;
}

Scenario AMemberDies() {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.spans = 2;
  scenario.samples = 4;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .kills = 1};
  return scenario;
}

Scenario AMemberIsLeftOut() {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.spans = 2;
  scenario.samples = 4;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .kills = 1, .deadlines = 1};
  return scenario;
}

Scenario ReplicasOfTwo() {
  Scenario scenario;
  scenario.islands = {"a", "a", "b"};
  scenario.spans = 2;
  scenario.samples = 6;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .deadlines = 1};
  return scenario;
}

Scenario AReplicaLosesAWorker() {
  Scenario scenario;
  scenario.islands = {"a", "a", "b"};
  scenario.spans = 2;
  scenario.samples = 6;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .kills = 1};
  return scenario;
}

Scenario Fragments() {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.fragments = 2;
  scenario.samples = 4;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .kills = 1};
  return scenario;
}

Scenario JoinAndRetention() {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.spans = 2;
  scenario.samples = 6;
  scenario.base_every = 2;
  scenario.by_span = true;
  scenario.begins_at = 2;
  scenario.joiner = 1;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1};
  return scenario;
}

Scenario LateWords() {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.spans = 2;
  scenario.samples = 6;
  scenario.base_every = 2;
  scenario.by_span = true;
  scenario.begins_at = 2;
  scenario.joiner = 1;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .late = 1};
  return scenario;
}

Scenario RestoreAfterDiskLoss() {
  Scenario scenario;
  scenario.islands = {"a"};
  scenario.samples = 2;
  scenario.saves = true;
  scenario.budget = {.coordinator_crashes = 1, .kills = 1, .disk_losses = 1};
  return scenario;
}

Scenario BeginningsOfAProgram() {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.samples = 2;
  scenario.program = true;
  scenario.begins_at.reset();
  scenario.joiner = 1;
  scenario.commits_max = 1;
  scenario.budget = {.kills = 1, .expiries = 1};
  return scenario;
}

Scenario HashTies() {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.samples = 4;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .deadlines = 1, .lies = 2};
  return scenario;
}

Scenario OneOfThreeIsWrong() {
  Scenario scenario;
  scenario.islands = {"a", "b", "c"};
  scenario.samples = 6;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .deadlines = 1, .lies = 1};
  return scenario;
}

Scenario TwoOfThreeAreWrong() {
  Scenario scenario;
  scenario.islands = {"a", "b", "c"};
  scenario.samples = 6;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .deadlines = 1, .lies = 2};
  return scenario;
}

Scenario BlameAndForgiveness() {
  Scenario scenario;
  scenario.islands = {"a", "b"};
  scenario.samples = 4;
  scenario.by_link = true;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .kills = 1, .deadlines = 3};
  return scenario;
}

Scenario BlameOfThree() {
  Scenario scenario;
  scenario.islands = {"a", "b", "c"};
  scenario.samples = 6;
  scenario.by_link = true;
  scenario.commits_max = 1;
  scenario.budget = {.coordinator_crashes = 1, .deadlines = 2};
  return scenario;
}

}  // namespace skerry::exhaustive
