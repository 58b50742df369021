#include "worker/core/job_settings.h"

#include <algorithm>

#include "base/status.h"
#include "compression/frame.h"
#include "data/sample_ranges.h"
#include "job/limits.h"
#include "job/review.h"
#include "planner/codec_policy.h"

namespace skerry::worker {

static_assert(job::kSpansMax <= compression::kFrameSpansMax);
static_assert(job::kFragmentsMax <= compression::kFrameFragmentsMax);

absl::StatusOr<JobSettings> JobSettingsOf(const job::JobSpec& said) {
  SKERRY_ASSIGN_OR_RETURN(const job::JobSpec spec, job::ReviewWork(said));
  JobSettings settings;
  settings.outer = OuterOptionsOf(spec);
  settings.beta = *spec.outer.beta;
  settings.samples = spec.training.samples;
  settings.batch_samples = spec.training.batch_samples;
  settings.tau = spec.training.tau;
  settings.spans = spec.exchange.spans;
  settings.fragments = spec.exchange.fragments;
  settings.program = spec.model.program.has_value();
  settings.from_checkpoint = spec.model.checkpoint.has_value();
  const data::RangeSet before = ConsumedBefore(spec);
  if (!before.empty() && before.ranges().back().end > settings.samples) {
    return absl::InvalidArgumentError(
        "spec.model.checkpoint.consumed: names samples that the job does not "
        "have");
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

absl::StatusOr<JobSettings> JobSettingsOf(const protocol::JobOrders& orders) {
  SKERRY_ASSIGN_OR_RETURN(JobSettings settings, JobSettingsOf(orders.spec));
  if (!orders.restored.has_value()) return settings;
  const protocol::RestoredState& restored = *orders.restored;
  if (!restored.sha256.empty()) {
    settings.from_checkpoint = true;
    return settings;
  }
  // It begins again with what it began with.
  settings.begins_at.assign(settings.fragments, restored.sequence);
  const size_t named =
      std::min(restored.fragment_sequences.size(), settings.begins_at.size());
  std::copy_n(restored.fragment_sequences.begin(), named,
              settings.begins_at.begin());
  return settings;
}

}  // namespace skerry::worker
