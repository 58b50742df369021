#include "optimizer/inner/schedule.h"

#include "gtest/gtest.h"

namespace skerry::optimizer {
namespace {

constexpr ScheduleOptions kOptions{
    .peak = 2.0f, .warmup_samples = 100, .min_ratio = 0.1f};

TEST(ScheduleTest, WarmsUpLinearly) {
  EXPECT_FLOAT_EQ(LearningRate(kOptions, 1, 1100), 0.02f);
  EXPECT_FLOAT_EQ(LearningRate(kOptions, 50, 1100), 1.0f);
  EXPECT_FLOAT_EQ(LearningRate(kOptions, 100, 1100), 2.0f);
}

TEST(ScheduleTest, FallsAsHalfACosineToTheFloor) {
  EXPECT_FLOAT_EQ(LearningRate(kOptions, 600, 1100), 1.1f);
  EXPECT_NEAR(LearningRate(kOptions, 1099, 1100), 0.2f, 1e-4);
  EXPECT_FLOAT_EQ(LearningRate(kOptions, 1100, 1100), 0.2f);
  EXPECT_FLOAT_EQ(LearningRate(kOptions, 5000, 1100), 0.2f);
}

TEST(ScheduleTest, NeverRisesAfterTheWarmUp) {
  float before = LearningRate(kOptions, 100, 1100);
  for (uint64_t done = 101; done <= 1200; ++done) {
    const float now = LearningRate(kOptions, done, 1100);
    EXPECT_LE(now, before) << done;
    before = now;
  }
}

TEST(ScheduleTest, WithoutWarmUpItStartsAtThePeak) {
  EXPECT_FLOAT_EQ(LearningRate({.peak = 1.0f}, 0, 1000), 1.0f);
}

TEST(ScheduleTest, ARunShorterThanItsWarmUpEndsInIt) {
  EXPECT_FLOAT_EQ(LearningRate(kOptions, 50, 50), 1.0f);
}

TEST(ScheduleTest, RefusesWhatIsNoCurve) {
  EXPECT_TRUE(ValidateScheduleOptions(kOptions).ok());
  EXPECT_FALSE(ValidateScheduleOptions({.peak = -1}).ok());
  EXPECT_FALSE(ValidateScheduleOptions({.min_ratio = 1.5f}).ok());
}

}  // namespace
}  // namespace skerry::optimizer
