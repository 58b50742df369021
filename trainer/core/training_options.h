// trainer/core/training_options.h
//
// What a job says about training one model, as options of the engine.
#ifndef SKERRY_TRAINER_CORE_TRAINING_OPTIONS_H_
#define SKERRY_TRAINER_CORE_TRAINING_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "job/job_spec.h"
#include "model/exec/recompute.h"
#include "optimizer/inner/inner_options.h"
#include "optimizer/inner/schedule.h"

namespace skerry::trainer {

using job::Compute;

struct TrainingOptions {
  // Text of a Hugging Face config.json, and the seed of the initial weights.
  std::string config_json;
  uint64_t model_seed = 0;
  // Seed of the sample order.
  uint64_t data_seed = 0;
  // Tokens a sample; 0: the model's context length.
  int sequence_tokens = 0;
  // Samples of the whole run, over all replicas.
  uint64_t samples_total = 0;
  // Rows computed at once.
  int micro_batch_samples = 1;
  optimizer::InnerOptions inner;
  optimizer::Curve schedule = optimizer::Curve::kCosine;
  float learning_rate = 1e-3f;
  double warmup_fraction = 0.05;
  float min_learning_rate_ratio = 0.1f;
  double decay_fraction = 0.2;
  model::Recompute recompute = model::Recompute::kNothing;
  // kBf16 is kFp32 where the processor cannot do it.
  Compute compute = Compute::kFp32;
  // The norm to which the whole gradient is clipped; 0: no clipping.
  double clip_norm = 1;
};

// Everything but config_json, which the model parses.
// Errors: InvalidArgument that names the field.
absl::Status ValidateTrainingOptions(const TrainingOptions& options);

// Requires: the options are valid.
optimizer::ScheduleOptions ScheduleOf(const TrainingOptions& options);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_TRAINING_OPTIONS_H_
