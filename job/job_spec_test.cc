#include "job/job_spec.h"

#include "gtest/gtest.h"

namespace skerry::job {
namespace {

TEST(JobSpecTest, OnlyOverlappingMethodsAreDelayed) {
  JobSpec spec;
  EXPECT_EQ(OuterDelay(spec), 0u);
  spec.outer.method = OuterMethod::kLocalSgd;
  EXPECT_EQ(OuterDelay(spec), 0u);
  spec.outer.method = OuterMethod::kCo2;
  EXPECT_EQ(OuterDelay(spec), 1u);
  EXPECT_EQ(StalenessMax(spec), 3u);
  spec.exchange.carry = 0;
  EXPECT_EQ(StalenessMax(spec), 1u);
}

TEST(JobSpecTest, APenaltyOfOneIsNone) {
  JobSpec spec;
  spec.outer.method = OuterMethod::kCo2;
  EXPECT_EQ(OuterOptionsOf(spec).penalty_rule,
            optimizer::StalenessPenalty::kOff);
  spec.outer.staleness_penalty = 2.0;
  EXPECT_EQ(OuterOptionsOf(spec).penalty_rule,
            optimizer::StalenessPenalty::kConstant);
  EXPECT_EQ(OuterOptionsOf(spec).penalty, 2.0);
}

TEST(JobSpecTest, AJobsOwnValuesReplaceThoseOfThePreset) {
  JobSpec spec;
  spec.outer.method = OuterMethod::kCo2;
  EXPECT_TRUE(OuterOptionsOf(spec).clip.has_value());
  spec.outer.clip = 0.0;
  EXPECT_FALSE(OuterOptionsOf(spec).clip.has_value());
  spec.outer.undelayed_fraction = 0.0;
  EXPECT_EQ(OuterOptionsOf(spec).undelayed_rounds_fraction, 0.0);
}

// The anchor would not be the mean of the replicas otherwise.
TEST(JobSpecTest, AMixIsTheRateToo) {
  JobSpec spec;
  spec.outer.method = OuterMethod::kDaSgd;
  EXPECT_EQ(OuterOptionsOf(spec).mix, 0.25);
  EXPECT_EQ(OuterOptionsOf(spec).learning_rate, 0.25);
  spec.outer.mix = 0.5;
  EXPECT_EQ(OuterOptionsOf(spec).mix, 0.5);
  EXPECT_EQ(OuterOptionsOf(spec).learning_rate, 0.5);
  EXPECT_EQ(OuterDelay(spec), 1u);
}

TEST(JobSpecTest, SamplesBeforeAreThoseOfTheCheckpoint) {
  JobSpec spec;
  EXPECT_TRUE(ConsumedBefore(spec).empty());
  spec.model.checkpoint.emplace();
  spec.model.checkpoint->consumed = {{0, 40}, {48, 56}};
  EXPECT_EQ(ConsumedBefore(spec).total(), 48u);
}

}  // namespace
}  // namespace skerry::job
