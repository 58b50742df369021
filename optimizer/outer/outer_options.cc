#include "optimizer/outer/outer_options.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"

namespace skerry::optimizer {
namespace {

// Above this the slow mode of a delayed loop rings (docs/outer_loop.md).
constexpr double kDampedGain = 0.5;

// An AdamW step moves an element by about the inner learning rate at most, so
// tau steps of a usual job move it by less than 0.1: a healthy round is not
// touched, and a sick one moves no element by more than 0.05 (a = 0.5).
constexpr double kCo2Clip = 0.1;

absl::Status Refused(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("outer optimizer: ", why));
}

// "has to be BOUND, not VALUE" as a refusal of one option.
std::optional<OuterRefusal> Bound(bool holds, absl::string_view field,
                                  double value, absl::string_view bound) {
  if (holds) return std::nullopt;
  return OuterRefusal{std::string(field),
                      absl::StrCat("has to be ", bound, ", not ", value)};
}

// kOwnShare and kConvexMix rest on the anchor being the mean of what all
// replicas have delivered, which only these settings keep true.
absl::Status CheckMerge(const OuterOptions& o) {
  if (o.merge == MergeRule::kReplace) return absl::OkStatus();
  if (o.momentum != 0.0 || o.clip.has_value() ||
      o.penalty_rule != StalenessPenalty::kOff) {
    return Refused(
        "this merge rule keeps the anchor at the mean of the replicas, so it "
        "takes no momentum, clip or penalty");
  }
  if (o.delay_rounds == 1 && o.undelayed_learning_rate != 1.0) {
    return Refused("this merge rule needs undelayed_learning_rate 1");
  }
  const bool delayed_mix =
      o.merge == MergeRule::kConvexMix && o.delay_rounds == 1;
  const double wanted = delayed_mix ? *o.mix : 1.0;
  if (o.learning_rate != wanted) {
    return Refused(absl::StrFormat(
        "this merge rule needs learning_rate %g%s (docs/outer_loop.md)", wanted,
        delayed_mix ? ", which is its mix; leave learning_rate out" : ""));
  }
  return absl::OkStatus();
}

// Left side of the stability law at c = 1. The measured penalty is at least 1
// and may be 1, so it counts as 1.
double DelayedGain(const OuterOptions& o) {
  if (o.delay_rounds == 0) return 0.0;
  if (o.merge == MergeRule::kOwnShare && o.own_share.has_value()) {
    return o.learning_rate - *o.own_share;
  }
  if (o.merge != MergeRule::kReplace) return 0.0;
  const double penalty =
      o.penalty_rule == StalenessPenalty::kConstant ? o.penalty : 1.0;
  const double gain = o.learning_rate / penalty;
  const double b = o.momentum;
  if (!o.nesterov) return b + gain;
  return b + gain * (1.0 - b * b) + gain * gain * b * b;
}

}  // namespace

absl::StatusOr<OuterOptions> OuterPreset(std::string_view name) {
  OuterOptions options;
  options.method = std::string(name);
  if (name == "local_sgd") return options;
  if (name == "diloco") {
    options.learning_rate = 0.7;
    options.momentum = 0.9;
    options.nesterov = true;
    return options;
  }
  options.delay_rounds = 1;
  if (name == "co2") {
    options.learning_rate = 0.5;
    options.penalty_rule = StalenessPenalty::kConstant;
    options.penalty = 1.0;
    options.clip = kCo2Clip;
    return options;
  }
  if (name == "dasgd") {
    options.merge = MergeRule::kConvexMix;
    options.mix = 0.25;
    options.learning_rate = 0.25;
    return options;
  }
  if (name == "average_plus_local_delta") {
    options.merge = MergeRule::kOwnShare;
    options.own_share = 1.0;
    options.apply_points = 1;
    return options;
  }
  if (name == "late") {
    options.merge = MergeRule::kOwnShare;
    return options;
  }
  return Refused(absl::StrCat(
      "unknown method \"", absl::string_view(name.data(), name.size()),
      "\"; use local_sgd, diloco, co2, dasgd, average_plus_local_delta or "
      "late"));
}

std::optional<OuterRefusal> RefuseOuterOption(const OuterOptions& o) {
  const std::optional<OuterRefusal> refusals[] = {
      // Before the rate, which is the mix where a job names none.
      Bound(!o.mix.has_value() || (*o.mix >= kMixMin && *o.mix <= kMixMax),
            "mix", o.mix.value_or(0),
            "in [0.05, 0.95]: at 0 a round leaves nothing, and at 1 replicas "
            "never come together"),
      Bound(o.learning_rate > 0.0 && o.learning_rate <= 2.0, "learning_rate",
            o.learning_rate, "in (0, 2]"),
      Bound(o.undelayed_learning_rate > 0.0 && o.undelayed_learning_rate <= 2.0,
            "undelayed_learning_rate", o.undelayed_learning_rate, "in (0, 2]"),
      Bound(o.momentum >= 0.0 && o.momentum < 1.0, "momentum", o.momentum,
            "in [0, 1)"),
      Bound(o.penalty >= 1.0 && std::isfinite(o.penalty), "penalty", o.penalty,
            "at least 1"),
      Bound(!o.clip.has_value() || (*o.clip > 0.0 && std::isfinite(*o.clip)),
            "clip", o.clip.value_or(0), "positive, or left out for no clip"),
      Bound(o.delay_rounds == 0 || o.delay_rounds == 1, "delay_rounds",
            o.delay_rounds, "0 or 1"),
      Bound(!o.own_share.has_value() ||
                (*o.own_share >= kOwnShareMin && *o.own_share <= 1.0),
            "own_share", o.own_share.value_or(0), "in [0.05, 1]"),
      Bound(!o.apply_points.has_value() ||
                (*o.apply_points >= 1 && *o.apply_points <= kApplyPointsMax),
            "apply_points", o.apply_points.value_or(0), "in [1, 1000]"),
      Bound(o.undelayed_rounds_fraction >= 0.0 &&
                o.undelayed_rounds_fraction <= 1.0,
            "undelayed_rounds_fraction", o.undelayed_rounds_fraction,
            "in [0, 1]")};
  for (const std::optional<OuterRefusal>& refusal : refusals) {
    if (refusal.has_value()) return refusal;
  }
  if (o.mix.has_value() != (o.merge == MergeRule::kConvexMix)) {
    return OuterRefusal{"mix", o.mix.has_value()
                                   ? "has a meaning only with method dasgd"
                                   : "has to be set with method dasgd"};
  }
  if (o.own_share.has_value() && o.merge != MergeRule::kOwnShare) {
    return OuterRefusal{"own_share", "has a meaning only with method late"};
  }
  if (o.apply_points.has_value() && o.merge != MergeRule::kOwnShare) {
    return OuterRefusal{"apply_points",
                        "has a meaning only with methods late and "
                        "average_plus_local_delta"};
  }
  if (o.nesterov && o.momentum == 0.0) {
    return OuterRefusal{"nesterov",
                        "is true, which has no meaning without momentum; set "
                        "nesterov to false, "
                        "or momentum above 0"};
  }
  return std::nullopt;
}

absl::StatusOr<OuterReview> ValidateOuter(const OuterOptions& options) {
  if (const auto refusal = RefuseOuterOption(options)) {
    return Refused(absl::StrCat(refusal->field, " ", refusal->why));
  }
  SKERRY_RETURN_IF_ERROR(CheckMerge(options));
  OuterReview review;
  review.delayed_gain = DelayedGain(options);
  if (review.delayed_gain >= 1.0) {
    return Refused(absl::StrFormat(
        "applied one round late, these settings diverge: |z|^2 = %.3g and it "
        "has to be below 1 (%s). Lower learning_rate or momentum, raise "
        "penalty, or use delay_rounds 0",
        review.delayed_gain,
        options.nesterov ? "b + k (1 - b^2) + (k b)^2 with k = a / L"
                         : "b + a / L"));
  }
  if (review.delayed_gain > kDampedGain) {
    review.warnings.push_back(absl::StrFormat(
        "applied one round late, these settings ring: |z|^2 = %.3g where at "
        "most %.3g is damped; expect a higher loss than synchronous training",
        review.delayed_gain, kDampedGain));
  }
  return review;
}

}  // namespace skerry::optimizer
