// coordinator/core/rules/holdings.h
//
// Tells which spans the current workers can bring to the newest sequence of
// their fragment. From this follows which workers may leave, and what is lost
// (PROTOCOL 5.6).
#ifndef SKERRY_COORDINATOR_CORE_RULES_HOLDINGS_H_
#define SKERRY_COORDINATOR_CORE_RULES_HOLDINGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// Returns true if the job does not depend on `worker`. That holds when other
// workers that do not drain hold every span of the job, when a checkpoint has
// the newest state, and when the job has ended or is not sized.
bool IsCoveredWithout(const JobState& job, const WorkerTable& workers,
                      std::string_view worker);

// Returns the range [first, second) from the first to the last span of the
// fragment that no current worker can bring to the newest sequence. Spans
// between those two may have a holder. Returns {0, 0} when no span is lost.
std::pair<uint32_t, uint32_t> SpansWithoutHolder(const JobState& job,
                                                 const WorkerTable& workers,
                                                 FragmentId fragment);

// Describes that range, as "spans 0 to 4 at sequence 7"; empty when no span of
// the fragment is lost.
std::string LostTextOf(const JobState& job, const WorkerTable& workers,
                       FragmentId fragment);
// Describes the lost spans of the first fragment that has some; empty when none
// has.
std::string LostText(const JobState& job, const WorkerTable& workers);

// Returns true if some span is lost and what the seat has on its disk may reach
// the newest sequence of its fragment. A worker that reads or folds what it has
// holds no span yet.
bool MayBringLost(const JobState& job, const WorkerTable& workers,
                  const Seat& seat);

// Returns true if the worker has said that its disk has a folder of the job.
bool HasFolderOf(const JobState& job, const Worker& worker);

// Returns true if the disk of a worker that takes no part in the job may have
// something that no other worker holds, or that an operator needs for a
// decision.
bool MayHoldLost(const JobState& job, const WorkerTable& workers,
                 const Worker& worker);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_HOLDINGS_H_
