// Every order of questions and answers by which the workers of a replica come
// to one cut, on the head's real agreement.
#include "gtest/gtest.h"
#include "tests/exhaustive/cut_model.h"
#include "tests/exhaustive/expect.h"

namespace skerry::exhaustive {
namespace {

void Expect(const char* bounds, const CutScenario& scenario) {
  ExpectEveryOrder<CutModel>(bounds, scenario);
}

TEST(CutsTest, QuestionsThatAreLostAndRepeated) {
  CutScenario scenario;
  scenario.commits = 2;
  scenario.losses = 1;
  scenario.repeats = 1;
  Expect("two ranks", scenario);
}

TEST(CutsTest, ALifeThatReplacesAnother) {
  CutScenario scenario;
  scenario.lives = 1;
  scenario.repeats = 1;
  Expect("two ranks, two lives", scenario);
}

TEST(CutsTest, ThreeRanks) {
  CutScenario scenario;
  scenario.ranks = 3;
  scenario.rounds = 2;
  Expect("three ranks", scenario);
}

TEST(CutsTest, ApplyPointsInsideARound) {
  CutScenario scenario;
  scenario.points = 2;
  scenario.rounds = 3;
  scenario.commits = 1;
  scenario.losses = 1;
  Expect("two ranks, two points", scenario);
  scenario.one_runs_through = true;
  Expect("two ranks, one of an earlier release", scenario);
}

}  // namespace
}  // namespace skerry::exhaustive
