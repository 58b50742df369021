#include "job/job_spec.h"

#include <algorithm>

namespace skerry::job {

data::RangeSet ConsumedBefore(const JobSpec& spec) {
  return spec.model.checkpoint.has_value()
             ? data::RangeSet(spec.model.checkpoint->consumed)
             : data::RangeSet();
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
  options.learning_rate = outer.learning_rate.value_or(options.learning_rate);
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
  return options;
}

}  // namespace skerry::job
