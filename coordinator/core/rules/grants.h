// coordinator/core/rules/grants.h
//
// Decides which samples each replica gets next (PROTOCOL 5.5).
//
// A replica has grants for two rounds more than it has reported, so that it
// never waits for the coordinator. A grant is one round of tau steps, lowest
// positions first. It is smaller only if the free samples no longer fill a
// round for everyone, so a short grant means a short round. A paused job gets
// none.
#ifndef SKERRY_COORDINATOR_CORE_RULES_GRANTS_H_
#define SKERRY_COORDINATOR_CORE_RULES_GRANTS_H_

#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

void DecideGrants(JobState& job, const Decider& decider);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_GRANTS_H_
