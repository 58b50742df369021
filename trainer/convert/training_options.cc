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

absl::StatusOr<optimizer::Algorithm> AlgorithmOf(
    v1::JobSpec::InnerOptimizer optimizer) {
  switch (optimizer) {
    case v1::JobSpec::INNER_OPTIMIZER_UNSPECIFIED:
    case v1::JobSpec::INNER_OPTIMIZER_ADAMW:
      return optimizer::Algorithm::kAdamW;
    case v1::JobSpec::INNER_OPTIMIZER_LAMB:
      return optimizer::Algorithm::kLamb;
    case v1::JobSpec::INNER_OPTIMIZER_SGD:
      return optimizer::Algorithm::kSgd;
    case v1::JobSpec::INNER_OPTIMIZER_MUON:
      return optimizer::Algorithm::kMuon;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("training.optimizer is unknown to this trainer: ",
                       static_cast<int>(optimizer)));
  }
}

absl::StatusOr<optimizer::Curve> CurveOf(v1::JobSpec::Schedule schedule) {
  switch (schedule) {
    case v1::JobSpec::SCHEDULE_UNSPECIFIED:
    case v1::JobSpec::SCHEDULE_COSINE:
      return optimizer::Curve::kCosine;
    case v1::JobSpec::SCHEDULE_LINEAR:
      return optimizer::Curve::kLinear;
    case v1::JobSpec::SCHEDULE_WSD:
      return optimizer::Curve::kWsd;
    case v1::JobSpec::SCHEDULE_INVERSE_SQRT:
      return optimizer::Curve::kInverseSqrt;
    case v1::JobSpec::SCHEDULE_CONSTANT:
      return optimizer::Curve::kConstant;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("training.schedule is unknown to this trainer: ",
                       static_cast<int>(schedule)));
  }
}

absl::StatusOr<Compute> ComputeOf(v1::JobSpec::Compute compute) {
  switch (compute) {
    case v1::JobSpec::COMPUTE_UNSPECIFIED:
    case v1::JobSpec::COMPUTE_FP32:
      return Compute::kFp32;
    case v1::JobSpec::COMPUTE_BF16:
      return Compute::kBf16;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("training.compute is unknown to this trainer: ",
                       static_cast<int>(compute)));
  }
}

// What an optimizer's own numbers are where the job does not say.
struct Standard {
  double weight_decay;
  double momentum;
  bool nesterov;
};
Standard StandardOf(optimizer::Algorithm algorithm) {
  switch (algorithm) {
    case optimizer::Algorithm::kLamb:
      return {0.01, 0, false};
    case optimizer::Algorithm::kSgd:
      return {0, 0.9, false};
    case optimizer::Algorithm::kMuon:
      return {0.1, 0.95, true};
    case optimizer::Algorithm::kAdamW:
      break;
  }
  return {0.1, 0, false};
}

// Narrowing turns large numbers into infinity; the option's own check names
// the field then.
float Narrow(double value) { return static_cast<float>(value); }

absl::StatusOr<optimizer::InnerOptions> InnerOptionsFromProto(
    const v1::JobSpec::Training& training) {
  optimizer::InnerOptions options;
  SKERRY_ASSIGN_OR_RETURN(options.algorithm, AlgorithmOf(training.optimizer()));
  const Standard standard = StandardOf(options.algorithm);
  options.adamw = {.beta1 = Narrow(ValueOr(training.beta1(), 0.9)),
                   .beta2 = Narrow(ValueOr(training.beta2(), 0.95)),
                   .epsilon = Narrow(ValueOr(training.epsilon(), 1e-8)),
                   .weight_decay = Narrow(training.has_weight_decay()
                                              ? training.weight_decay()
                                              : standard.weight_decay)};
  options.momentum =
      Narrow(training.has_momentum() ? training.momentum() : standard.momentum);
  options.nesterov =
      training.has_nesterov() ? training.nesterov() : standard.nesterov;
  return options;
}

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
  SKERRY_ASSIGN_OR_RETURN(options.inner, InnerOptionsFromProto(training));
  SKERRY_ASSIGN_OR_RETURN(options.schedule, CurveOf(training.schedule()));
  SKERRY_ASSIGN_OR_RETURN(options.compute, ComputeOf(training.compute()));
  options.warmup_fraction =
      training.has_warmup_fraction() ? training.warmup_fraction() : 0.05;
  options.min_learning_rate_ratio =
      training.has_min_learning_rate_ratio()
          ? Narrow(training.min_learning_rate_ratio())
          : 0.1f;
  if (training.recompute()) options.recompute = model::Recompute::kBlocks;
  if (training.has_decay_fraction()) {
    options.decay_fraction = training.decay_fraction();
  }
  options.clip_norm = training.has_clip_norm() ? training.clip_norm() : 1.0;
  SKERRY_RETURN_IF_ERROR(ValidateTrainingOptions(options));
  return options;
}

}  // namespace skerry::trainer
