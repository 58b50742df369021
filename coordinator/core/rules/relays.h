// coordinator/core/rules/relays.h
//
// Decides which workers can be connected, and through whom. A worker that
// cannot be dialled opens streams to those that can. Two that both cannot be
// dialled meet at a relay, which is a worker that was started with --relay.
#ifndef SKERRY_COORDINATOR_CORE_RULES_RELAYS_H_
#define SKERRY_COORDINATOR_CORE_RULES_RELAYS_H_

#include "coordinator/core/state/worker_table.h"

namespace skerry::coordinator {

// Returns the relay of two workers of different islands that both cannot be
// dialled; null when there is none. It depends on nothing but the table, so
// everybody is told of the same one. A relay that serves and answers comes
// before one that is suspected, drains, or that one of the two does not reach.
// Among equals a hash of the three names decides. That spreads pairs over the
// relays, and moves only the pairs of a relay that leaves.
const Worker* RelayFor(const WorkerTable& workers, const Worker& a,
                       const Worker& b);

// Whether two workers of different islands can be connected: one of them can be
// dialled by the other, or they have a relay.
bool CanReach(const WorkerTable& workers, const Worker& a, const Worker& b);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_RELAYS_H_
