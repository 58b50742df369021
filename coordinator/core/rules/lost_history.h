// coordinator/core/rules/lost_history.h
//
// Handles what workers still hold of a lost history after an operator has kept
// another state (PROTOCOL 5.9). It counts as if it were not there.
#ifndef SKERRY_COORDINATOR_CORE_RULES_LOST_HISTORY_H_
#define SKERRY_COORDINATOR_CORE_RULES_LOST_HISTORY_H_

#include <cstddef>

#include "coordinator/core/state/job_state.h"
#include "protocol/job_facts.h"
#include "protocol/kept_state.h"

namespace skerry::coordinator {

// What the workers are told of the fragment, so that they give up the rest.
protocol::KeptState KeptIn(const JobState& job, size_t fragment);

// Removes from what a worker says the bases that are lost, and its present
// state if that is.
void RemoveLost(const JobState& job, JobFacts& facts);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_LOST_HISTORY_H_
