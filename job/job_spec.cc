#include "job/job_spec.h"

#include <algorithm>

namespace skerry::job {

data::RangeSet ConsumedBefore(const JobSpec& spec) {
  return spec.model.checkpoint.has_value()
             ? data::RangeSet(spec.model.checkpoint->consumed)
             : data::RangeSet();
}

void LeaveToProgram(JobSpec::Training& training) {
  training.micro_batch_samples.reset();
  training.learning_rate.reset();
  training.beta1.reset();
  training.beta2.reset();
  training.epsilon.reset();
  training.weight_decay.reset();
  training.warmup_fraction.reset();
  training.min_learning_rate_ratio.reset();
  training.clip_norm.reset();
  training.optimizer.reset();
  training.momentum.reset();
  training.nesterov.reset();
  training.schedule.reset();
  training.decay_fraction.reset();
  training.recompute = false;
  training.compute.reset();
}

uint32_t FragmentCount(const JobSpec& spec) {
  return std::max(1u, spec.exchange.fragments);
}

std::string_view OuterMethodName(OuterMethod method) {
  switch (method) {
    case OuterMethod::kUnspecified:
      return "";
    case OuterMethod::kLocalSgd:
      return "local_sgd";
    case OuterMethod::kDiloco:
      return "diloco";
    case OuterMethod::kCo2:
      return "co2";
    case OuterMethod::kAveragePlusLocalDelta:
      return "average_plus_local_delta";
    case OuterMethod::kLate:
      return "late";
    case OuterMethod::kDaSgd:
      return "dasgd";
  }
  return "";
}

uint32_t OuterDelay(const JobSpec& spec) {
  const auto preset =
      optimizer::OuterPreset(OuterMethodName(spec.outer.method));
  return preset.ok() ? static_cast<uint32_t>(preset->delay_rounds) : 0;
}

uint64_t StalenessMax(const JobSpec& spec) {
  return uint64_t{OuterDelay(spec)} + spec.exchange.carry;
}

optimizer::OuterOptions OuterOptionsOf(const JobSpec& spec) {
  const JobSpec::OuterLoop& outer = spec.outer;
  auto preset = optimizer::OuterPreset(OuterMethodName(outer.method));
  optimizer::OuterOptions options =
      preset.ok() ? *std::move(preset) : optimizer::OuterOptions{};
  if (outer.mix.has_value()) options.mix = outer.mix;
  options.learning_rate =
      outer.learning_rate.value_or(outer.mix.value_or(options.learning_rate));
  options.momentum = outer.momentum.value_or(options.momentum);
  options.nesterov = outer.nesterov.value_or(options.nesterov);
  options.penalty = outer.staleness_penalty.value_or(options.penalty);
  options.penalty_rule = options.penalty == 1.0
                             ? optimizer::StalenessPenalty::kOff
                             : optimizer::StalenessPenalty::kConstant;
  if (outer.clip.has_value()) {
    options.clip.reset();
    if (*outer.clip != 0) options.clip = outer.clip;
  }
  options.undelayed_rounds_fraction =
      outer.undelayed_fraction.value_or(options.undelayed_rounds_fraction);
  if (outer.own_share.has_value()) options.own_share = outer.own_share;
  if (outer.apply_points.has_value()) options.apply_points = outer.apply_points;
  return options;
}

}  // namespace skerry::job
