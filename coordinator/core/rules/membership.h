// coordinator/core/rules/membership.h
//
// Decides which workers of an island form its next replica, when a replica is
// admitted, and when it ends because of its workers (PROTOCOL 5.5 and 6).
//
// An island has one replica. A worker that joins recovers beside the running
// replica and takes a place in the next one. So it disturbs neither the open
// exchange nor the round in progress before it is ready. If a worker is lost,
// the life ends at once, and the other workers wait a short while for it to
// come back.
#ifndef SKERRY_COORDINATOR_CORE_RULES_MEMBERSHIP_H_
#define SKERRY_COORDINATOR_CORE_RULES_MEMBERSHIP_H_

#include <string>
#include <string_view>

#include "coordinator/core/state/earliest.h"
#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// The worker's incarnation is over: so is the life that it was part of.
void LoseWorker(JobState& job, const Decider& decider, std::string_view worker,
                const std::string& reason);

// Ends lives of workers that cannot do their part or have drained, makes new
// places if needed, lets joiners take over, and admits replicas that have
// recovered.
void DecideMembership(JobState& job, const Decider& decider);

void CollectMembership(const JobState& job, const ClusterOptions& options,
                       Earliest& earliest);

// Returns true while commits should pause so that a joiner can catch up. Two
// joiners need this: one that falls further behind with every commit (chase.h),
// and, in a job with several fragments, one that is about to take over. It
// needs every fragment, and some fragment commits almost all the time. A pause
// lasts at most takeover_wait, and the next one starts no sooner than
// takeover_wait later.
bool AwaitsJoiner(const JobState& job, const ClusterOptions& options,
                  Instant now);

// The island's place that names the worker; null when it has none.
const Place* PlaceOf(const JobState& job, std::string_view island,
                     std::string_view worker);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_MEMBERSHIP_H_
