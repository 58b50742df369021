#include "trainer/core/training_options.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "job/limits.h"

namespace skerry::trainer {
absl::Status ValidateTrainingOptions(const TrainingOptions& options) {
  if (options.samples_total < 1 || options.samples_total > job::kSamplesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("training.samples must be 1 to ", job::kSamplesMax,
                     ", not ", options.samples_total));
  }
  if (options.micro_batch_samples < 1 ||
      options.micro_batch_samples > static_cast<int>(job::kMicroBatchMax)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "training.micro_batch_samples must be 1 to ", job::kMicroBatchMax,
        ", not ", options.micro_batch_samples));
  }
  if (options.sequence_tokens < 0 ||
      options.sequence_tokens > static_cast<int>(job::kSequenceTokensMax)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "data.sequence_tokens must be 0 to ", job::kSequenceTokensMax, ", not ",
        options.sequence_tokens));
  }
  if (!(options.warmup_fraction >= 0 && options.warmup_fraction <= 1)) {
    return absl::InvalidArgumentError(
        "training.warmup_fraction must be in [0, 1]");
  }
  if (!(options.clip_norm >= 0 && std::isfinite(options.clip_norm))) {
    return absl::InvalidArgumentError("training.clip_norm must be at least 0");
  }
  SKERRY_RETURN_IF_ERROR(optimizer::ValidateInnerOptions(options.inner));
  return optimizer::ValidateScheduleOptions(ScheduleOf(options));
}

optimizer::ScheduleOptions ScheduleOf(const TrainingOptions& options) {
  return {.curve = options.schedule,
          .peak = options.learning_rate,
          .warmup_samples =
              static_cast<uint64_t>(options.warmup_fraction *
                                    static_cast<double>(options.samples_total)),
          .min_ratio = options.min_learning_rate_ratio,
          .decay_ratio = options.decay_fraction};
}

}  // namespace skerry::trainer
