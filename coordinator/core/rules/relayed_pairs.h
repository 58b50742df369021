// coordinator/core/rules/relayed_pairs.h
//
// Says between which workers each relay passes frames and fetches on.
#ifndef SKERRY_COORDINATOR_CORE_RULES_RELAYED_PAIRS_H_
#define SKERRY_COORDINATOR_CORE_RULES_RELAYED_PAIRS_H_

#include <string>

#include "absl/container/btree_map.h"
#include "coordinator/core/state/job_table.h"
#include "coordinator/core/state/worker_table.h"
#include "protocol/peers.h"

namespace skerry::coordinator {

// Returns the pairs of workers that have a job in common and reach each other
// through `relay`; none when it is no relay.
protocol::RelayedPairs PairsOfRelay(const JobTable& jobs,
                                    const WorkerTable& workers,
                                    const Worker& relay);

// Returns the workers that `worker` reaches through relays, among those that it
// has an unfinished job in common with, and the relay of each.
absl::btree_map<std::string, std::string> RelaysOf(const JobTable& jobs,
                                                   const WorkerTable& workers,
                                                   const Worker& worker);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_RELAYED_PAIRS_H_
