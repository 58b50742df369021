#include "trainer/core/training_options.h"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

TEST(TrainingOptionsTest, ScheduleCountsSamples) {
  TrainingOptions options;
  options.samples_total = 1000;
  options.warmup_fraction = 0.05;
  ASSERT_TRUE(ValidateTrainingOptions(options).ok());
  EXPECT_EQ(ScheduleOf(options).warmup_samples, 50u);
  EXPECT_EQ(ScheduleOf(options).peak, 1e-3f);
}

TEST(TrainingOptionsTest, ValuesOutOfRangeAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::function<void(TrainingOptions&)>> mistakes = {
      [](TrainingOptions& o) { o.samples_total = 0; },
      [](TrainingOptions& o) { o.samples_total = ~uint64_t{0}; },
      [](TrainingOptions& o) { o.micro_batch_samples = 0; },
      [](TrainingOptions& o) { o.micro_batch_samples = 1 << 20; },
      [](TrainingOptions& o) { o.sequence_tokens = -1; },
      [=](TrainingOptions& o) { o.warmup_fraction = nan; },
      [](TrainingOptions& o) { o.warmup_fraction = 1.5; },
      [=](TrainingOptions& o) { o.clip_norm = nan; },
      [](TrainingOptions& o) { o.clip_norm = -1; },
      [](TrainingOptions& o) { o.inner.adamw.beta1 = 1; },
      [](TrainingOptions& o) { o.learning_rate = -1; }};
  for (size_t i = 0; i < mistakes.size(); ++i) {
    TrainingOptions options;
    options.samples_total = 1000;
    mistakes[i](options);
    EXPECT_TRUE(absl::IsInvalidArgument(ValidateTrainingOptions(options)))
        << "mistake " << i;
  }
}

}  // namespace
}  // namespace skerry::trainer
