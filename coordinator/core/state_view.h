// coordinator/core/state_view.h
//
// Tells which whole state of a job's model can be fetched from workers now.
#ifndef SKERRY_COORDINATOR_CORE_STATE_VIEW_H_
#define SKERRY_COORDINATOR_CORE_STATE_VIEW_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/core/job_state.h"
#include "coordinator/core/views.h"

namespace skerry::coordinator {

// Returns the newest state of which current, unsuspected workers together hold
// a base of every span of every fragment. A state is passed over if two workers
// name different hashes for a span, because one of them is wrong and this
// function cannot know which.
//
// Errors: FailedPrecondition when there is none.
absl::StatusOr<StateView> LocateState(const JobState& job,
                                      const WorkerTable& workers);

// The sequence of each fragment at that state of the job (JobState::State);
// empty in a job with one fragment. Requires: the job has had it.
std::vector<Sequence> SequencesAt(const JobState& job, Sequence state);

struct TakenIn {
  // By any fragment.
  data::RangeSet consumed;
  // What of it each fragment lacks; empty in a job with one.
  std::vector<data::RangeSet> lacking;
};
// What that state has taken in; nothing when that is not known any more.
// Requires: the job has had it.
std::optional<TakenIn> TakenInAt(const JobState& job, Sequence state);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_VIEW_H_
