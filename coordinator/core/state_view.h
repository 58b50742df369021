// coordinator/core/state_view.h
//
// Which whole state of a job's model can be fetched from workers now.
#ifndef SKERRY_COORDINATOR_CORE_STATE_VIEW_H_
#define SKERRY_COORDINATOR_CORE_STATE_VIEW_H_

#include <optional>

#include "absl/status/statusor.h"
#include "coordinator/core/job_state.h"
#include "coordinator/core/views.h"

namespace skerry::coordinator {

// The newest sequence of which current, unsuspected workers together hold a
// base of every span. A sequence at which two of them name different hashes for
// a span is passed over: one of them is wrong, and which one is not known here.
//
// Errors: FailedPrecondition when there is none.
absl::StatusOr<StateView> LocateState(const JobState& job,
                                      const WorkerTable& workers);

// The samples that the state at `sequence` has taken in; nothing when that is
// not known any more. Requires: it is committed.
std::optional<data::RangeSet> ConsumedAt(const JobState& job,
                                         uint64_t sequence);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_VIEW_H_
