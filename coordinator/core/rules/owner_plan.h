// coordinator/core/rules/owner_plan.h
//
// Decides who owns which span of an attempt: members get spans in proportion to
// their links, if workers have measured these.
#ifndef SKERRY_COORDINATOR_CORE_RULES_OWNER_PLAN_H_
#define SKERRY_COORDINATOR_CORE_RULES_OWNER_PLAN_H_

#include <cstddef>

#include "coordinator/core/log/records.h"
#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// Sets the owners of an attempt. In the first attempt of a sequence they are
// those that planner/owner_shares.h assigns by the links that OwnerHold holds,
// and the reason says so. The shares are equal while links are measured, where
// other shares would save next to nothing, and in one hop, in which everybody
// sums. They also are where a policy chooses the job's codecs, because those
// make up for slow links already. The record carries the owners, so every
// worker and a restart see the same; what was learned of links is not durable.
//
// Further attempts have equal shares, each with other owners than those before.
// One that repeats the members of the attempt before it gives every span
// another owner: a member that was wrong does not decide the same span again.
//
// Requires: members and hops of `opened` are set.
void PlanOwners(JobState& job, size_t fragment, Opened& opened);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_OWNER_PLAN_H_
