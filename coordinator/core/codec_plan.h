// coordinator/core/codec_plan.h
//
// Which codec each member of an attempt sends with, when the job leaves that to
// its links.
#ifndef SKERRY_COORDINATOR_CORE_CODEC_PLAN_H_
#define SKERRY_COORDINATOR_CORE_CODEC_PLAN_H_

#include <cstddef>

#include "coordinator/core/job_state.h"
#include "coordinator/core/records.h"

namespace skerry::coordinator {

// Sets the members' codecs of a job with a codec policy, and adds why to the
// reason; does nothing for others. The record carries both, so every worker and
// a restart see what was chosen; what was learned of links is not durable.
//
// A member whose link nobody has measured counts as slow as the slowest that is
// measured. Requires: members, owners and hops of `opened` are set.
void PlanCodecs(JobState& job, size_t fragment, Opened& opened);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_CODEC_PLAN_H_
