// A cluster that trains the engine's own model.
#include "tests/sim/language_model.h"

#include <cmath>
#include <variant>
#include <vector>

#include "coordinator/core/log/records.h"
#include "gtest/gtest.h"
#include "tests/sim/faulty_world.h"
#include "tests/sim/run.h"

namespace skerry::sim {
namespace {

Schedule TwoIslands() {
  Schedule schedule;
  schedule.seed = 1;
  schedule.profile = "quiet";
  schedule.workers = {{"a", absl::Milliseconds(3)},
                      {"b", absl::Milliseconds(4)},
                      {"b", absl::Milliseconds(4)}};
  JobShape job;
  job.codec = "int8_block";
  job.samples = 3000;
  job.tau = 4;
  schedule.jobs.push_back(job);
  schedule.language_model = true;
  schedule.delay_min = absl::Microseconds(200);
  schedule.delay_max = absl::Milliseconds(5);
  schedule.calm_at = absl::Milliseconds(1);
  return schedule;
}

class Losses final : public Observer {
 public:
  void OnDurable(const coordinator::Entry& entry) override {
    const auto* evaluated = std::get_if<coordinator::Evaluated>(&entry.record);
    if (evaluated != nullptr) found.push_back(evaluated->loss);
  }
  std::vector<double> found;
};

TEST(LanguageModelTest, ItLearnsOnASimulatedCluster) {
  Losses losses;
  FaultyWorld world(TwoIslands(), losses, 0);
  world.RunUntil(Instant(absl::Minutes(2)));
  EXPECT_TRUE(world.AllJobsEnded());
  ASSERT_GT(losses.found.size(), 4u);
  // Guessing one of 256 bytes costs ln 256 nats.
  EXPECT_LT(losses.found.back(), std::log(256.0) - 1.5);
}

TEST(LanguageModelTest, NoPromiseIsBrokenAndHistoriesAreTheSame) {
  const RunResult once = sim::Run(TwoIslands());
  EXPECT_EQ(once.violations, std::vector<std::string>());
  EXPECT_GT(once.commits, 20u);
  EXPECT_EQ(sim::Run(TwoIslands()).hash, once.hash);
}

TEST(LanguageModelTest, EqualCallsGiveEqualValues) {
  const auto one = MakeLanguageModel();
  const auto other = MakeLanguageModel();
  std::vector<float> a(one->elements()), b(other->elements());
  one->Initialize(a);
  other->Initialize(b);
  const data::RangeSet ranges(data::SampleRange{5, 13});
  // Whatever one of them has trained on before.
  std::vector<float> before = a;
  one->Train(ranges, 3, before);
  EXPECT_NE(before, a);
  EXPECT_EQ(one->Train(ranges, 4, a), other->Train(ranges, 4, b));
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace skerry::sim
