// Every order in which results come to a worker whose rounds have apply points,
// on its real book of live values.
#include "gtest/gtest.h"
#include "tests/exhaustive/expect.h"
#include "tests/exhaustive/late_model.h"

namespace skerry::exhaustive {
namespace {

void Expect(const char* bounds, const LateScenario& scenario) {
  ExpectEveryOrder<LateModel>(bounds, scenario);
}

TEST(LateTest, ResultsWithAndWithoutTheWorkersPart) {
  LateScenario scenario;
  scenario.rounds = 4;
  scenario.steps = 3;
  scenario.others = 3;
  Expect("four rounds of three steps", scenario);
}

TEST(LateTest, DropsAndPauses) {
  LateScenario scenario;
  scenario.rounds = 4;
  scenario.others = 2;
  scenario.drops = 2;
  scenario.pauses = 2;
  Expect("four rounds, two drops, two pauses", scenario);
}

}  // namespace
}  // namespace skerry::exhaustive
