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

TEST(ScheduleTest, ALineFallsEvenly) {
  ScheduleOptions options = kOptions;
  options.curve = Curve::kLinear;
  EXPECT_FLOAT_EQ(LearningRate(options, 100, 1100), 2.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 350, 1100), 1.55f);
  EXPECT_FLOAT_EQ(LearningRate(options, 1100, 1100), 0.2f);
}

TEST(ScheduleTest, WsdIsStableAndThenDecays) {
  ScheduleOptions options = kOptions;
  options.curve = Curve::kWsd;
  options.decay_ratio = 0.25;
  EXPECT_FLOAT_EQ(LearningRate(options, 50, 1000), 1.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 100, 1000), 2.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 750, 1000), 2.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 875, 1000), 1.1f);
  EXPECT_FLOAT_EQ(LearningRate(options, 1000, 1000), 0.2f);
  options.decay_ratio = 0;
  EXPECT_FLOAT_EQ(LearningRate(options, 999, 1000), 2.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 1000, 1000), 0.2f);
  // Longer than what the warm-up leaves.
  options.decay_ratio = 1;
  EXPECT_FLOAT_EQ(LearningRate(options, 100, 1000), 2.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 550, 1000), 1.1f);
}

TEST(ScheduleTest, TheInverseSquareRootKnowsNoEnd) {
  ScheduleOptions options = kOptions;
  options.curve = Curve::kInverseSqrt;
  EXPECT_FLOAT_EQ(LearningRate(options, 100, 1100), 2.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 400, 1100), 1.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 400, 200), 1.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 1000000, 1100), 0.2f);
  options.warmup_samples = 0;
  EXPECT_FLOAT_EQ(LearningRate(options, 0, 1100), 2.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 4, 1100), 1.0f);
}

TEST(ScheduleTest, AConstantStaysAtThePeak) {
  ScheduleOptions options = kOptions;
  options.curve = Curve::kConstant;
  EXPECT_FLOAT_EQ(LearningRate(options, 50, 1100), 1.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 101, 1100), 2.0f);
  EXPECT_FLOAT_EQ(LearningRate(options, 5000, 1100), 2.0f);
}

TEST(ScheduleTest, RefusesWhatIsNoCurve) {
  EXPECT_TRUE(ValidateScheduleOptions(kOptions).ok());
  EXPECT_FALSE(ValidateScheduleOptions({.peak = -1}).ok());
  EXPECT_FALSE(ValidateScheduleOptions({.min_ratio = 1.5f}).ok());
  EXPECT_FALSE(ValidateScheduleOptions({.decay_ratio = -0.1}).ok());
}

}  // namespace
}  // namespace skerry::optimizer
