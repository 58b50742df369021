// coordinator/core/rules/retention.h
//
// Decides from which sequence workers keep bases and results (PROTOCOL 5.8),
// and which workers can serve what another one lacks.
#ifndef SKERRY_COORDINATOR_CORE_RULES_RETENTION_H_
#define SKERRY_COORDINATOR_CORE_RULES_RETENTION_H_

#include <string_view>
#include <vector>

#include "coordinator/core/state/job_state.h"
#include "protocol/fragment_orders.h"

namespace skerry::coordinator {

// Returns the newest base that every worker of every current replica holds, or
// the oldest pin or the state that is being saved if that is lower. 0 keeps
// everything. Unset while any of these workers has not reported. Never below
// the state that the job went back to. While a recovering worker has not pinned
// a base yet, the result does not rise, because the worker is choosing among
// the bases that it was offered.
Sequence KeepFrom(const JobState& job, const WorkerTable& workers,
                  const ClusterOptions& options, FragmentId fragment);

// Current workers that hold spans overlapping [begin, end), newest base first.
// Base hashes are left out unless `with_base`.
std::vector<protocol::Source> SourcesFor(const JobState& job,
                                         const WorkerTable& workers,
                                         const ClusterOptions& options,
                                         std::string_view worker,
                                         FragmentId fragment, uint32_t begin,
                                         uint32_t end, bool with_base);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_RETENTION_H_
