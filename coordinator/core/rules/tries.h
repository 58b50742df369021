// coordinator/core/rules/tries.h
//
// Chooses which workers dial each other, to find out whether they can.
#ifndef SKERRY_COORDINATOR_CORE_RULES_TRIES_H_
#define SKERRY_COORDINATOR_CORE_RULES_TRIES_H_

#include <cstddef>
#include <vector>

#include "coordinator/core/state/job_table.h"
#include "coordinator/core/state/worker_table.h"
#include "protocol/reach.h"

namespace skerry::coordinator {

// At most so many of a kind. One holder in each of four other replicas of its
// jobs shows what exchanges will meet. Those that it misses, and those that
// could not dial it, tell a broken way from a one-way street. Four neighbours
// are for workers without a job: with fewer, one bad machine would decide
// about another.
inline constexpr size_t kTriesOfAKind = 4;
// How far it looks for neighbours on the ring of all workers. So nobody is
// dialled by more than that many for being a neighbour, not even the only
// worker of an island.
inline constexpr size_t kRingSteps = 32;

// Returns whom `worker` dials: current workers of other islands that do not say
// themselves that they cannot be dialled. At most 4 * kTriesOfAKind.
std::vector<protocol::TryOrder> TriesFor(const JobTable& jobs,
                                         const WorkerTable& workers,
                                         const Worker& worker);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_TRIES_H_
