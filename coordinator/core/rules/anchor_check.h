// coordinator/core/rules/anchor_check.h
//
// Compares what replicas say of their anchors at equal sequences (PROTOCOL 5.3,
// last paragraph). The life of a replica ends if it differs from the largest
// set of equal replicas, or on a tie from the set with the lowest replica. At
// the end of a job a difference fails the job, because nobody could say which
// of the models is the trained one.
#ifndef SKERRY_COORDINATOR_CORE_RULES_ANCHOR_CHECK_H_
#define SKERRY_COORDINATOR_CORE_RULES_ANCHOR_CHECK_H_

#include <string>

#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// Remembers the anchors that the worker has just reported in its life.
void NoteAnchors(JobState& job, const std::string& worker);

// Judges the sequences that no current replica can still report.
void CheckAnchors(JobState& job, const Decider& decider);

// Compares the last anchors of all workers that are there, also of those that
// have no life. Returns the differences in one line, for operators; empty when
// there are none. Requires: every sample is committed.
std::string DifferenceAtTheEnd(const JobState& job, const WorkerTable& workers);

// Whether some replica that is there has yet to report its last anchor.
bool AwaitsLastAnchors(const JobState& job, const WorkerTable& workers);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_ANCHOR_CHECK_H_
