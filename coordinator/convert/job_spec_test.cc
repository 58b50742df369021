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
  const auto spec = JobSpecFromProto(in);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->outer.momentum, 0.0);
  EXPECT_FALSE(spec->outer.learning_rate.has_value());
  EXPECT_EQ(spec->training.clip_norm, 0.0);
  EXPECT_FALSE(spec->training.warmup_fraction.has_value());
  EXPECT_EQ(spec->exchange.carry, 0u);
  v1::JobSpec out;
  JobSpecToProto(*spec, &out);
  const auto again = JobSpecFromProto(out);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *spec);
}

TEST(JobSpecConvertTest, AnUnknownMethodAndAnEndlessTextAreRefused) {
  v1::JobSpec in;
  in.mutable_outer()->set_method(static_cast<v1::JobSpec::OuterMethod>(77));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
  in.Clear();
  in.mutable_model()->set_config_json(std::string(1 << 20, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(JobSpecFromProto(in).status()));
}

}  // namespace
}  // namespace skerry::coordinator
