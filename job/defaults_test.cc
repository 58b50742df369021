#include "job/defaults.h"

#include "gtest/gtest.h"
#include "job/testing/specs.h"

namespace skerry::job {
namespace {

TEST(DefaultsTest, WhatDependsOnOtherFieldsIsFilledFromThem) {
  JobSpec spec = SmallJob("job", 100);
  spec.outer.method = OuterMethod::kDiloco;
  FillDefaults(64, spec);
  EXPECT_EQ(spec.data.sequence_tokens, 64u);
  EXPECT_EQ(spec.training.micro_batch_samples, 4u);
  EXPECT_EQ(spec.training.beta1, 0.9);
  EXPECT_EQ(spec.training.weight_decay, 0.1);
  EXPECT_FALSE(spec.training.momentum.has_value());
  EXPECT_EQ(spec.outer.learning_rate, 0.7);
  EXPECT_EQ(spec.outer.momentum, 0.9);
  EXPECT_EQ(spec.outer.beta, 0.0);
  const JobSpec once = spec;
  FillDefaults(32, spec);
  EXPECT_EQ(spec, once);
}

TEST(DefaultsTest, AMixIsTheRateToo) {
  JobSpec spec = SmallJob("job", 100);
  spec.outer.method = OuterMethod::kDaSgd;
  JobSpec preset = spec;
  FillDefaults(64, preset);
  EXPECT_EQ(preset.outer.mix, 0.25);
  EXPECT_EQ(preset.outer.learning_rate, 0.25);
  spec.outer.mix = 0.5;
  FillDefaults(64, spec);
  EXPECT_EQ(spec.outer.mix, 0.5);
  EXPECT_EQ(spec.outer.learning_rate, 0.5);
}

TEST(DefaultsTest, ZeroIsAValue) {
  JobSpec spec = SmallJob("job", 100);
  spec.outer.method = OuterMethod::kDiloco;
  spec.data.sequence_tokens = 0;
  spec.training.micro_batch_samples = 0;
  spec.training.beta1 = 0.0;
  spec.training.weight_decay = 0.0;
  spec.training.evaluate_every = 0;
  spec.outer.learning_rate = 0.0;
  spec.outer.momentum = 0.0;
  FillDefaults(64, spec);
  EXPECT_EQ(spec.data.sequence_tokens, 0u);
  EXPECT_EQ(spec.training.micro_batch_samples, 0u);
  EXPECT_EQ(spec.training.beta1, 0.0);
  EXPECT_EQ(spec.training.weight_decay, 0.0);
  EXPECT_EQ(spec.training.evaluate_every, 0u);
  EXPECT_EQ(spec.outer.learning_rate, 0.0);
  EXPECT_EQ(spec.outer.momentum, 0.0);
}

TEST(DefaultsTest, WithoutAModelOrAMethodTheirDefaultsStayEmpty) {
  JobSpec spec = SmallJob("job", 100);
  spec.outer.method = OuterMethod::kUnspecified;
  FillDefaults(0, spec);
  EXPECT_FALSE(spec.data.sequence_tokens.has_value());
  EXPECT_FALSE(spec.outer.learning_rate.has_value());
}

}  // namespace
}  // namespace skerry::job
