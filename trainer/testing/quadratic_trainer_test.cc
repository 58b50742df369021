#include "trainer/testing/quadratic_trainer.h"

#include <cmath>

#include "trainer/testing/trainer_conformance.h"

namespace skerry::trainer {
namespace {

std::unique_ptr<Trainer> MakeQuadratic() {
  return std::make_unique<QuadraticTrainer>(QuadraticOptions());
}

INSTANTIATE_TEST_SUITE_P(Quadratic, TrainerConformance,
                         ::testing::Values(MakeQuadratic));

TEST(QuadraticTrainerTest, FindsTheMiddle) {
  QuadraticTrainer trainer{QuadraticOptions()};
  ASSERT_TRUE(trainer.Run(Samples(0, 10000, 100), NeverStop).ok());
  const std::vector<float> state = StateOf(trainer);
  for (uint64_t i = 0; i < state.size(); ++i) {
    EXPECT_NEAR(state[i], trainer.Middle(i), 0.05);
  }
}

}  // namespace
}  // namespace skerry::trainer
