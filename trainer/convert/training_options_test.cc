#include "trainer/convert/training_options.h"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

using ::testing::HasSubstr;

v1::JobSpec SmallestJob() {
  v1::JobSpec job;
  job.mutable_model()->set_config_json("{}");
  job.mutable_training()->set_samples(1000);
  job.mutable_training()->set_batch_samples(8);
  job.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_LOCAL_SGD);
  return job;
}

TEST(TrainingOptionsFromProtoTest, UnsetNumbersTakeTheDocumentedDefaults) {
  const auto options = TrainingOptionsFromProto(SmallestJob());
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->micro_batch_samples, 8);
  EXPECT_EQ(options->learning_rate, 1e-3f);
  EXPECT_EQ(options->inner.algorithm, optimizer::Algorithm::kAdamW);
  EXPECT_EQ(options->inner.adamw.beta1, 0.9f);
  EXPECT_EQ(options->inner.adamw.beta2, 0.95f);
  EXPECT_EQ(options->inner.adamw.epsilon, 1e-8f);
  EXPECT_EQ(options->inner.adamw.weight_decay, 0.1f);
  EXPECT_EQ(options->schedule, optimizer::Curve::kCosine);
  EXPECT_EQ(options->decay_fraction, 0.2);
  EXPECT_EQ(options->recompute, model::Recompute::kNothing);
  EXPECT_EQ(options->compute, Compute::kFp32);
  EXPECT_EQ(options->warmup_fraction, 0.05);
  EXPECT_EQ(options->min_learning_rate_ratio, 0.1f);
  EXPECT_EQ(options->clip_norm, 1.0);
}

TEST(TrainingOptionsFromProtoTest, SetNumbersAreTaken) {
  v1::JobSpec job = SmallestJob();
  job.mutable_model()->set_seed(5);
  job.mutable_data()->set_seed(6);
  job.mutable_data()->set_sequence_tokens(64);
  job.mutable_training()->set_micro_batch_samples(2);
  job.mutable_training()->set_clip_norm(0);
  job.mutable_training()->set_warmup_fraction(0);
  const auto options = TrainingOptionsFromProto(job);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->model_seed, 5u);
  EXPECT_EQ(options->data_seed, 6u);
  EXPECT_EQ(options->sequence_tokens, 64);
  EXPECT_EQ(options->samples_total, 1000u);
  EXPECT_EQ(options->micro_batch_samples, 2);
  EXPECT_EQ(options->clip_norm, 0);
  EXPECT_EQ(options->warmup_fraction, 0);
}

TEST(TrainingOptionsFromProtoTest, EachOptimizerHasItsOwnDefaults) {
  v1::JobSpec job = SmallestJob();
  job.mutable_training()->set_optimizer(v1::JobSpec::INNER_OPTIMIZER_SGD);
  auto options = TrainingOptionsFromProto(job);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->inner.algorithm, optimizer::Algorithm::kSgd);
  EXPECT_EQ(options->inner.adamw.weight_decay, 0);
  EXPECT_EQ(options->inner.momentum, 0.9f);
  EXPECT_FALSE(options->inner.nesterov);
  job.mutable_training()->set_optimizer(v1::JobSpec::INNER_OPTIMIZER_LAMB);
  options = TrainingOptionsFromProto(job);
  EXPECT_EQ(options->inner.algorithm, optimizer::Algorithm::kLamb);
  EXPECT_EQ(options->inner.adamw.weight_decay, 0.01f);
  job.mutable_training()->set_optimizer(v1::JobSpec::INNER_OPTIMIZER_MUON);
  options = TrainingOptionsFromProto(job);
  EXPECT_EQ(options->inner.algorithm, optimizer::Algorithm::kMuon);
  EXPECT_EQ(options->inner.momentum, 0.95f);
  EXPECT_TRUE(options->inner.nesterov);
}

TEST(TrainingOptionsFromProtoTest, ZeroesThatAreSetAreNoDefaults) {
  v1::JobSpec job = SmallestJob();
  job.mutable_training()->set_optimizer(v1::JobSpec::INNER_OPTIMIZER_MUON);
  job.mutable_training()->set_weight_decay(0);
  job.mutable_training()->set_momentum(0);
  job.mutable_training()->set_nesterov(false);
  job.mutable_training()->set_schedule(v1::JobSpec::SCHEDULE_WSD);
  job.mutable_training()->set_decay_fraction(0);
  job.mutable_training()->set_recompute(true);
  job.mutable_training()->set_compute(v1::JobSpec::COMPUTE_BF16);
  const auto options = TrainingOptionsFromProto(job);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->inner.adamw.weight_decay, 0);
  EXPECT_EQ(options->inner.momentum, 0);
  EXPECT_FALSE(options->inner.nesterov);
  EXPECT_EQ(options->schedule, optimizer::Curve::kWsd);
  EXPECT_EQ(options->decay_fraction, 0);
  EXPECT_EQ(options->recompute, model::Recompute::kBlocks);
  EXPECT_EQ(options->compute, Compute::kBf16);
}

TEST(TrainingOptionsFromProtoTest, NonsenseIsRefused) {
  using Training = v1::JobSpec::Training;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::function<void(Training&)>> mistakes = {
      [](Training& t) { t.set_batch_samples(0); },
      [](Training& t) { t.set_batch_samples(0xffffffff); },
      [](Training& t) { t.set_samples(0); },
      [=](Training& t) { t.set_learning_rate(nan); },
      [](Training& t) { t.set_learning_rate(1e300); },
      [](Training& t) { t.set_learning_rate(-1); },
      [](Training& t) { t.set_beta1(1); },
      [](Training& t) {
        t.set_optimizer(static_cast<v1::JobSpec::InnerOptimizer>(99));
      },
      [](Training& t) {
        t.set_schedule(static_cast<v1::JobSpec::Schedule>(99));
      },
      [](Training& t) { t.set_compute(static_cast<v1::JobSpec::Compute>(99)); },
      [](Training& t) {
        t.set_optimizer(v1::JobSpec::INNER_OPTIMIZER_SGD);
        t.set_momentum(1);
      },
      [](Training& t) { t.set_decay_fraction(2); },
      [=](Training& t) { t.set_epsilon(nan); },
      [=](Training& t) { t.set_warmup_fraction(nan); },
      [](Training& t) { t.set_min_learning_rate_ratio(2); }};
  for (size_t i = 0; i < mistakes.size(); ++i) {
    v1::JobSpec job = SmallestJob();
    mistakes[i](*job.mutable_training());
    EXPECT_TRUE(absl::IsInvalidArgument(TrainingOptionsFromProto(job).status()))
        << "mistake " << i;
  }
}

}  // namespace
}  // namespace skerry::trainer
