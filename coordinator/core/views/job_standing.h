// coordinator/core/views/job_standing.h
//
// Tells what a job is doing, or why it does not move. This is the one place
// that explains it: `describe`, `get`, `watch`, `wait` and `doctor` repeat its
// words, and `plan` says beforehand what is known by then.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_JOB_STANDING_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_JOB_STANDING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "coordinator/core/state/job_state.h"
#include "coordinator/core/views/views.h"

namespace skerry::coordinator {

struct Standing {
  // What the job is doing, or why it does not move.
  std::string reason;
  // First the reason why it does not move, in the words of `reason`, then
  // everything else that is wrong. Empty while all is well.
  std::vector<Condition> conditions;
};

// `turn`: what the queue says of the job.
Standing StandingOf(const JobState& job, const WorkerTable& workers,
                    const ClusterOptions& options, const Turn& turn,
                    Instant now);

// Says whether so many workers are enough to begin with.
std::string WorkersText(size_t may, size_t wanted);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_JOB_STANDING_H_
