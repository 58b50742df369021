// coordinator/core/grants.h
//
// Which samples each replica gets next (PROTOCOL 5.5).
//
// A replica is kept two rounds ahead of what it has reported, so that it never
// waits for the coordinator. A grant is one round of tau steps, lowest
// positions first; only when what is free no longer fills a round for everyone
// is it smaller, so a short grant means a short round. A paused job gets none.
#ifndef SKERRY_COORDINATOR_CORE_GRANTS_H_
#define SKERRY_COORDINATOR_CORE_GRANTS_H_

#include "coordinator/core/job_state.h"

namespace skerry::coordinator {

void DecideGrants(JobState& job, const Decider& decider);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_GRANTS_H_
