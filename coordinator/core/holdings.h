// coordinator/core/holdings.h
//
// Which spans the workers that are there can bring to the newest sequence of
// their fragment: who may leave, and what is lost (PROTOCOL 5.6).
#ifndef SKERRY_COORDINATOR_CORE_HOLDINGS_H_
#define SKERRY_COORDINATOR_CORE_HOLDINGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "coordinator/core/job_state.h"

namespace skerry::coordinator {

// Whether other workers, none of them draining, hold every span that `worker`
// holds, or a checkpoint has the newest state, so that the job does not depend
// on it.
bool IsCoveredWithout(const JobState& job, const WorkerTable& workers,
                      std::string_view worker);

// Spans [first, second) of the fragment that no current worker can bring to the
// newest sequence; {0, 0} when there are none.
std::pair<uint32_t, uint32_t> SpansWithoutHolder(const JobState& job,
                                                 const WorkerTable& workers,
                                                 FragmentId fragment);

// Those of the fragment, as "spans 0 to 4 at sequence 7"; empty when there are
// none.
std::string LostTextOf(const JobState& job, const WorkerTable& workers,
                       FragmentId fragment);
// Of the first fragment that has some.
std::string LostText(const JobState& job, const WorkerTable& workers);

// Whether the worker said that its disk has a folder of the job.
bool HasFolderOf(const JobState& job, const Worker& worker);

// Whether a worker that takes no part in the job may have on its disk what no
// other worker holds, or what an operator has to know to decide.
bool MayHoldLost(const JobState& job, const WorkerTable& workers,
                 const Worker& worker);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_HOLDINGS_H_
