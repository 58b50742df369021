// coordinator/core/rules/expected.h
//
// Counts the replicas that the next attempt of a fragment waits for before it
// opens (PROTOCOL 5.1; docs/decisions/0006 for replicas that have just joined).
#ifndef SKERRY_COORDINATOR_CORE_RULES_EXPECTED_H_
#define SKERRY_COORDINATOR_CORE_RULES_EXPECTED_H_

#include <cstddef>

#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

struct Expected {
  // Unsuspected replicas that are worth waiting for, ready or not.
  size_t replicas = 0;
  // Replicas that have just joined, which can still enter the attempt after
  // this one.
  size_t newcomers = 0;
};

Expected CountExpected(const JobState& job, const Decider& decider,
                       const RoundMachine& machine);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_EXPECTED_H_
