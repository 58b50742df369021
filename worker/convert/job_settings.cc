#include <string_view>
#include <utility>

#include "base/status.h"
#include "compression/frame.h"
#include "job/convert/job_spec.h"
#include "job/limits.h"
#include "job/review.h"
#include "planner/codec_policy.h"
#include "worker/convert/control.h"
#include "worker/convert/fields.h"

namespace skerry::worker {

static_assert(job::kSpansMax <= compression::kFrameSpansMax);
static_assert(job::kFragmentsMax <= compression::kFrameFragmentsMax);

absl::StatusOr<JobSettings> JobSettingsFromProto(const v1::JobSpec& message) {
  SKERRY_ASSIGN_OR_RETURN(job::JobSpec spec, job::JobSpecFromProto(message));
  SKERRY_ASSIGN_OR_RETURN(spec, job::ReviewWork(std::move(spec)));
  JobSettings settings;
  settings.outer = OuterOptionsOf(spec);
  settings.beta = *spec.outer.beta;
  settings.samples = spec.training.samples;
  settings.batch_samples = spec.training.batch_samples;
  settings.tau = spec.training.tau;
  settings.spans = spec.exchange.spans;
  settings.fragments = spec.exchange.fragments;
  settings.from_checkpoint = spec.model.checkpoint.has_value();
  const data::RangeSet before = ConsumedBefore(spec);
  if (!before.empty() && before.ranges().back().end > settings.samples) {
    return BadField("spec.model.checkpoint.consumed",
                    "names samples that the job does not have");
  }
  settings.samples_before = before.total();
  if (spec.checkpoint.has_value())
    settings.checkpoint_every = spec.checkpoint->every;
  // A policy names each member's codecs, that of its results too, when an
  // attempt opens; none is larger than int8_block.
  if (!planner::IsCodecPolicy(spec.exchange.codec)) {
    SKERRY_ASSIGN_OR_RETURN(settings.codec,
                            compression::ParseCodecName(spec.exchange.codec));
  }
  return settings;
}

}  // namespace skerry::worker
