#include "trainer/convert/training_options.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::trainer {
namespace {

double ValueOr(double value, double otherwise) {
  return value == 0 ? otherwise : value;
}

absl::StatusOr<int> Count(uint32_t value, absl::string_view field) {
  if (value > static_cast<uint32_t>(std::numeric_limits<int>::max())) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is ", value, ", which is too large"));
  }
  return static_cast<int>(value);
}

// Narrowing turns large numbers into infinity; the option's own check names
// the field then.
float Narrow(double value) { return static_cast<float>(value); }

}  // namespace

absl::StatusOr<TrainingOptions> TrainingOptionsFromProto(
    const v1::JobSpec& job) {
  const v1::JobSpec::Training& training = job.training();
  if (training.batch_samples() == 0) {
    return absl::InvalidArgumentError("training.batch_samples is not set");
  }
  TrainingOptions options;
  options.config_json = job.model().config_json();
  options.model_seed = job.model().seed();
  options.data_seed = job.data().seed();
  options.samples_total = training.samples();
  SKERRY_ASSIGN_OR_RETURN(
      options.sequence_tokens,
      Count(job.data().sequence_tokens(), "data.sequence_tokens"));
  SKERRY_ASSIGN_OR_RETURN(options.micro_batch_samples,
                          Count(training.micro_batch_samples() == 0
                                    ? training.batch_samples()
                                    : training.micro_batch_samples(),
                                "training.micro_batch_samples"));
  options.learning_rate = Narrow(ValueOr(training.learning_rate(), 1e-3));
  options.adamw = {
      .beta1 = Narrow(ValueOr(training.beta1(), 0.9)),
      .beta2 = Narrow(ValueOr(training.beta2(), 0.95)),
      .epsilon = Narrow(ValueOr(training.epsilon(), 1e-8)),
      .weight_decay = Narrow(ValueOr(training.weight_decay(), 0.1))};
  options.warmup_fraction =
      training.has_warmup_fraction() ? training.warmup_fraction() : 0.05;
  options.min_learning_rate_ratio =
      training.has_min_learning_rate_ratio()
          ? Narrow(training.min_learning_rate_ratio())
          : 0.1f;
  options.clip_norm = training.has_clip_norm() ? training.clip_norm() : 1.0;
  SKERRY_RETURN_IF_ERROR(ValidateTrainingOptions(options));
  return options;
}

}  // namespace skerry::trainer
