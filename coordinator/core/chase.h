// coordinator/core/chase.h
//
// Helps joiners that cannot catch up on their own. If commits arrive faster
// than a joiner can hear of them, fetch and fold them, it stays behind for as
// long as the job runs. The coordinator then pauses commits for a while.
#ifndef SKERRY_COORDINATOR_CORE_CHASE_H_
#define SKERRY_COORDINATOR_CORE_CHASE_H_

#include "coordinator/core/earliest.h"
#include "coordinator/core/job_state.h"

namespace skerry::coordinator {

// Looks how far behind the workers are that are to form a new replica, or to
// join the one that their island has. One that has not gained in some commits
// is waited for: as long as it gains, and a quarter of takeover_wait longer,
// but no longer than it is allowed, which is twice takeover_wait at first and
// twice as long after each time that it was too short. Who is not level then is
// not waited for again for twenty times as long as it was. So one that is stuck
// costs a twentieth at most, and one that gains comes level in the end, however
// far behind it is.
void WatchChases(JobState& job, const Decider& decider);

void CollectChases(const JobState& job, const ClusterOptions& options,
                   Earliest& earliest);

// Whether the workers of `place` are waited for now.
bool IsAwaited(const Place& place, const ClusterOptions& options, Instant now);
// Whether those of any place are.
bool AwaitsChaser(const JobState& job, const ClusterOptions& options,
                  Instant now);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_CHASE_H_
