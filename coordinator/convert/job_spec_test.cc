#include "coordinator/convert/job_spec.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

TEST(JobSpecConvertTest, UnsetAndZeroStayDifferent) {
  v1::JobSpec in;
  in.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_CO2);
  in.mutable_outer()->set_momentum(0);
  in.mutable_training()->set_clip_norm(0);
  in.mutable_exchange()->set_carry(0);
  in.mutable_queue()->set_priority(-7);
  in.mutable_queue()->set_owner("vision");
  const auto spec = JobSpecFromProto(in);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->outer.momentum, 0.0);
  EXPECT_FALSE(spec->outer.learning_rate.has_value());
  EXPECT_EQ(spec->training.clip_norm, 0.0);
  EXPECT_FALSE(spec->training.warmup_fraction.has_value());
  EXPECT_EQ(spec->exchange.carry, 0u);
  EXPECT_EQ(spec->queue.priority, -7);
  EXPECT_EQ(spec->queue.owner, "vision");
  v1::JobSpec out;
  JobSpecToProto(*spec, &out);
  const auto again = JobSpecFromProto(out);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *spec);
}

// Who does not know the field leaves it out.
TEST(JobSpecConvertTest, ACapThatIsNotSetIsNone) {
  v1::JobSpec in;
  in.mutable_exchange()->set_codec("adaptive");
  const auto none = JobSpecFromProto(in);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->exchange.error_max.has_value());
  v1::JobSpec out;
  JobSpecToProto(*none, &out);
  EXPECT_FALSE(out.exchange().has_error_max());
  in.mutable_exchange()->set_error_max(0.0);
  EXPECT_EQ(JobSpecFromProto(in)->exchange.error_max, 0.0);
}

TEST(JobSpecConvertTest, EveryOptimizerAndScheduleComesBack) {
  for (int optimizer = v1::JobSpec::InnerOptimizer_MIN;
       optimizer <= v1::JobSpec::InnerOptimizer_MAX; ++optimizer) {
    for (int schedule = v1::JobSpec::Schedule_MIN;
         schedule <= v1::JobSpec::Schedule_MAX; ++schedule) {
      v1::JobSpec in;
      v1::JobSpec::Training* training = in.mutable_training();
      training->set_optimizer(
          static_cast<v1::JobSpec::InnerOptimizer>(optimizer));
      training->set_schedule(static_cast<v1::JobSpec::Schedule>(schedule));
      training->set_weight_decay(0);
      training->set_momentum(0);
      training->set_nesterov(false);
      training->set_decay_fraction(0);
      training->set_recompute(true);
      v1::JobSpec out;
      JobSpecToProto(JobSpecFromProto(in).value(), &out);
      EXPECT_EQ(out.training().SerializeAsString(),
                training->SerializeAsString());
    }
  }
  v1::JobSpec in;
  in.mutable_training()->set_optimizer(
      static_cast<v1::JobSpec::InnerOptimizer>(77));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
  in.Clear();
  in.mutable_training()->set_schedule(static_cast<v1::JobSpec::Schedule>(77));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
  in.Clear();
  in.mutable_training()->set_compute(static_cast<v1::JobSpec::Compute>(77));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
}

TEST(JobSpecConvertTest, WhatProductsMultiplyComesBack) {
  for (int compute = v1::JobSpec::Compute_MIN;
       compute <= v1::JobSpec::Compute_MAX; ++compute) {
    v1::JobSpec in;
    in.mutable_training()->set_compute(
        static_cast<v1::JobSpec::Compute>(compute));
    v1::JobSpec out;
    JobSpecToProto(JobSpecFromProto(in).value(), &out);
    EXPECT_EQ(out.training().compute(), in.training().compute());
  }
}

TEST(JobSpecConvertTest, AnUnknownMethodAndAnEndlessTextAreRefused) {
  v1::JobSpec in;
  in.mutable_outer()->set_method(static_cast<v1::JobSpec::OuterMethod>(77));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
  in.Clear();
  in.mutable_model()->set_config_json(std::string(1 << 20, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
}

TEST(JobSpecConvertTest, ACheckpointComesBackWhole) {
  v1::JobSpec in;
  v1::JobSpec::Checkpoint* from = in.mutable_model()->mutable_checkpoint();
  from->set_path("/checkpoints");
  from->set_name("checkpoint-5");
  from->set_sha256("abc");
  from->set_samples(v1::JobSpec::SAMPLES_GO_ON);
  from->add_consumed()->set_end(40);
  const auto spec = JobSpecFromProto(in);
  ASSERT_TRUE(spec.ok()) << spec.status();
  ASSERT_TRUE(spec->model.checkpoint.has_value());
  EXPECT_EQ(spec->model.checkpoint->samples, Samples::kGoOn);
  v1::JobSpec out;
  JobSpecToProto(*spec, &out);
  EXPECT_EQ(out.model().checkpoint().SerializeAsString(),
            in.model().checkpoint().SerializeAsString());
  from->set_samples(static_cast<v1::JobSpec::Samples>(9));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
  EXPECT_FALSE(JobSpecFromProto(v1::JobSpec())->model.checkpoint.has_value());
}

}  // namespace
}  // namespace skerry::coordinator
