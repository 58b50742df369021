#include "trainer/convert/training_options.h"

#include "base/status.h"
#include "job/convert/job_spec.h"
#include "job/review.h"

namespace skerry::trainer {
namespace {

optimizer::Algorithm AlgorithmOf(job::InnerOptimizer optimizer) {
  switch (optimizer) {
    case job::InnerOptimizer::kAdamW:
      return optimizer::Algorithm::kAdamW;
    case job::InnerOptimizer::kLamb:
      return optimizer::Algorithm::kLamb;
    case job::InnerOptimizer::kSgd:
      return optimizer::Algorithm::kSgd;
    case job::InnerOptimizer::kMuon:
      return optimizer::Algorithm::kMuon;
  }
  return optimizer::Algorithm::kAdamW;
}

optimizer::Curve CurveOf(job::Schedule schedule) {
  switch (schedule) {
    case job::Schedule::kCosine:
      return optimizer::Curve::kCosine;
    case job::Schedule::kLinear:
      return optimizer::Curve::kLinear;
    case job::Schedule::kWsd:
      return optimizer::Curve::kWsd;
    case job::Schedule::kInverseSqrt:
      return optimizer::Curve::kInverseSqrt;
    case job::Schedule::kConstant:
      return optimizer::Curve::kConstant;
  }
  return optimizer::Curve::kCosine;
}

// The review has made sure that a number stays inside its bounds as fp32.
float Narrow(double value) { return static_cast<float>(value); }

// SGD has no betas and no epsilon; nothing reads what stands for them.
optimizer::InnerOptions InnerOptionsOf(const job::JobSpec::Training& training) {
  optimizer::InnerOptions options;
  options.algorithm = AlgorithmOf(*training.optimizer);
  if (training.optimizer != job::InnerOptimizer::kSgd) {
    options.adamw.beta1 = Narrow(*training.beta1);
    options.adamw.beta2 = Narrow(*training.beta2);
    options.adamw.epsilon = Narrow(*training.epsilon);
  }
  options.adamw.weight_decay = Narrow(*training.weight_decay);
  options.momentum = Narrow(training.momentum.value_or(0));
  options.nesterov = training.nesterov.value_or(false);
  return options;
}

}  // namespace

absl::StatusOr<TrainingOptions> TrainingOptionsFromProto(
    const v1::JobSpec& job) {
  SKERRY_ASSIGN_OR_RETURN(job::JobSpec spec, job::JobSpecFromProto(job));
  SKERRY_ASSIGN_OR_RETURN(spec, job::ReviewWork(std::move(spec)));
  if (spec.model.program.has_value()) {
    return absl::InvalidArgumentError(
        "model.program: this is Skerry's own engine, and skerry-attach trains "
        "jobs that name a program");
  }
  const job::JobSpec::Training& training = spec.training;
  TrainingOptions options;
  options.config_json = spec.model.config_json;
  options.model_seed = spec.model.seed;
  options.data_seed = spec.data.seed;
  options.samples_total = training.samples;
  options.sequence_tokens =
      static_cast<int>(spec.data.sequence_tokens.value_or(0));
  options.micro_batch_samples = static_cast<int>(*training.micro_batch_samples);
  options.learning_rate = Narrow(*training.learning_rate);
  options.inner = InnerOptionsOf(training);
  options.schedule = CurveOf(*training.schedule);
  if (training.compute == job::Compute::kBf16) options.compute = Compute::kBf16;
  options.warmup_fraction = *training.warmup_fraction;
  options.min_learning_rate_ratio = Narrow(*training.min_learning_rate_ratio);
  if (training.recompute) options.recompute = model::Recompute::kBlocks;
  options.decay_fraction =
      training.decay_fraction.value_or(options.decay_fraction);
  options.clip_norm = *training.clip_norm;
  SKERRY_RETURN_IF_ERROR(ValidateTrainingOptions(options));
  return options;
}

}  // namespace skerry::trainer
