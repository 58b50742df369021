// coordinator/core/rules/state_view.h
//
// Tells which whole state of a job's model can be fetched from workers now.
#ifndef SKERRY_COORDINATOR_CORE_RULES_STATE_VIEW_H_
#define SKERRY_COORDINATOR_CORE_RULES_STATE_VIEW_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/core/state/job_state.h"
#include "data/sample_ranges.h"
#include "protocol/peers.h"
#include "protocol/state_piece.h"

namespace skerry::coordinator {

using protocol::StatePiece;

// One whole state of the model on the disks of current workers.
struct StateView {
  JobId id;
  job::JobSpec spec;
  Sequence sequence;
  uint64_t samples_committed = 0;
  uint64_t element_count = 0;
  std::vector<StatePiece> pieces;  // by span
  // The samples that the state has taken in; empty when they are not known.
  data::RangeSet consumed;
  // The sequence of each fragment; empty in a job with one. With several,
  // `pieces` lists the first fragment's spans, then the second's and so on, and
  // `sequence` is the sum of these sequences.
  std::vector<Sequence> fragment_sequences = {};
  // It has every worker that `pieces` names.
  protocol::Directory directory = {};
};

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

#endif  // SKERRY_COORDINATOR_CORE_RULES_STATE_VIEW_H_
