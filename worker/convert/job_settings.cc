#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "compression/frame.h"
#include "planner/codec_policy.h"
#include "worker/convert/control.h"
#include "worker/convert/fields.h"

namespace skerry::worker {
namespace {

constexpr uint32_t kTauDefault = 12;
constexpr uint32_t kSpansDefault = 64;
// So that samples of a round, and weights in fp32 sums, stay exact.
constexpr uint64_t kSamplesMax = uint64_t{1} << 48;
constexpr uint32_t kBatchMax = uint32_t{1} << 20;
constexpr uint32_t kTauMax = uint32_t{1} << 20;
constexpr uint32_t kFragmentsMax = 64;

absl::StatusOr<std::string_view> PresetOf(int method) {
  switch (method) {
    case v1::JobSpec::OUTER_METHOD_LOCAL_SGD:
      return std::string_view("local_sgd");
    case v1::JobSpec::OUTER_METHOD_DILOCO:
      return std::string_view("diloco");
    case v1::JobSpec::OUTER_METHOD_CO2:
      return std::string_view("co2");
    case v1::JobSpec::OUTER_METHOD_AVERAGE_PLUS_LOCAL_DELTA:
      return std::string_view("average_plus_local_delta");
  }
  return BadField("spec.outer.method", absl::StrCat("unknown: ", method));
}

absl::StatusOr<optimizer::OuterOptions> OuterFromProto(
    const v1::JobSpec::OuterLoop& loop) {
  SKERRY_ASSIGN_OR_RETURN(const std::string_view preset,
                          PresetOf(loop.method()));
  SKERRY_ASSIGN_OR_RETURN(optimizer::OuterOptions outer,
                          optimizer::OuterPreset(preset));
  if (loop.has_learning_rate()) outer.learning_rate = loop.learning_rate();
  if (loop.has_momentum()) outer.momentum = loop.momentum();
  if (loop.has_nesterov()) outer.nesterov = loop.nesterov();
  if (loop.has_staleness_penalty()) {
    outer.penalty = loop.staleness_penalty();
    outer.penalty_rule = outer.penalty == 1.0
                             ? optimizer::StalenessPenalty::kOff
                             : optimizer::StalenessPenalty::kConstant;
  }
  if (loop.has_clip()) {
    outer.clip.reset();
    if (loop.clip() != 0.0) outer.clip = loop.clip();
  }
  if (loop.has_undelayed_fraction()) {
    outer.undelayed_rounds_fraction = loop.undelayed_fraction();
  }
  SKERRY_RETURN_IF_ERROR(optimizer::ValidateOuter(outer).status());
  if (outer.penalty_rule == optimizer::StalenessPenalty::kDistance) {
    return BadField("spec.outer.staleness_penalty",
                    "set it: no Commit carries a measured gap");
  }
  return outer;
}

}  // namespace

absl::StatusOr<JobSettings> JobSettingsFromProto(const v1::JobSpec& spec) {
  JobSettings settings;
  SKERRY_ASSIGN_OR_RETURN(settings.outer, OuterFromProto(spec.outer()));
  const v1::JobSpec::Training& training = spec.training();
  settings.samples = training.samples();
  settings.from_checkpoint = spec.model().has_checkpoint();
  for (const v1::SampleRange& range : spec.model().checkpoint().consumed()) {
    if (range.begin() >= range.end() || range.end() > settings.samples) {
      return BadField("spec.model.checkpoint.consumed",
                      "names samples that the job does not have");
    }
    settings.samples_before += range.end() - range.begin();
  }
  settings.checkpoint_every = spec.checkpoint().every();
  settings.batch_samples = training.batch_samples();
  settings.tau = training.tau() == 0 ? kTauDefault : training.tau();
  if (settings.samples == 0 || settings.samples > kSamplesMax) {
    return BadField("spec.training.samples", "has to be in [1, 2^48]");
  }
  if (settings.batch_samples == 0 || settings.batch_samples > kBatchMax) {
    return BadField("spec.training.batch_samples", "has to be in [1, 2^20]");
  }
  if (settings.tau > kTauMax) {
    return BadField("spec.training.tau", "has to be at most 2^20");
  }
  const v1::JobSpec::Exchange& exchange = spec.exchange();
  // A policy names each member's codecs, that of its results too, when an
  // attempt opens; none is larger than int8_block.
  const bool by_policy = planner::IsCodecPolicy(exchange.codec());
  if (!exchange.codec().empty() && !by_policy) {
    SKERRY_ASSIGN_OR_RETURN(settings.codec,
                            compression::ParseCodecName(exchange.codec()));
  }
  settings.beta =
      by_policy ? 1.0 : compression::DefaultErrorFeedback(settings.codec);
  if (spec.outer().has_beta()) settings.beta = spec.outer().beta();
  if (!(settings.beta >= 0.0 && settings.beta <= 1.0)) {
    return BadField("spec.outer.beta", "has to be in [0, 1]");
  }
  settings.spans = exchange.spans() == 0 ? kSpansDefault : exchange.spans();
  if (settings.spans > compression::kFrameSpansMax) {
    return BadField("spec.exchange.spans", "too many");
  }
  settings.fragments = std::max(1u, exchange.fragments());
  if (settings.fragments > kFragmentsMax ||
      settings.tau % settings.fragments != 0) {
    return BadField("spec.exchange.fragments",
                    "has to divide training.tau, and be at most 64");
  }
  return settings;
}

}  // namespace skerry::worker
