// coordinator/core/rules/chase.h
//
// Helps joiners that cannot catch up on their own. If commits arrive faster
// than a joiner can hear of them, fetch and fold them, it stays behind for as
// long as the job runs. The coordinator then pauses commits for a while.
#ifndef SKERRY_COORDINATOR_CORE_RULES_CHASE_H_
#define SKERRY_COORDINATOR_CORE_RULES_CHASE_H_

#include "coordinator/core/state/earliest.h"
#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// Measures how far behind joiners are: workers that are to form a new replica
// or to join the running one of their island. If a joiner has not gained in
// some commits, commits pause. The pause lasts as long as the joiner gains and
// a quarter of takeover_wait longer. It never lasts longer than the joiner's
// allowance. That is twice takeover_wait at first, and doubles each time it was
// too short. If the joiner has not caught up then, commits do not pause for it
// again for twenty times as long. So a joiner that is stuck costs a twentieth
// of the time at most, and one that gains catches up in the end.
void WatchChases(JobState& job, const Decider& decider);

void CollectChases(const JobState& job, const ClusterOptions& options,
                   Earliest& earliest);

// Whether the workers of `place` are waited for now.
bool IsAwaited(const Place& place, const ClusterOptions& options, Instant now);
// Whether those of any place are.
bool AwaitsChaser(const JobState& job, const ClusterOptions& options,
                  Instant now);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_CHASE_H_
