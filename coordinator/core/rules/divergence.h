// coordinator/core/rules/divergence.h
//
// Handles workers whose history of a job is not that of the journal. The cause
// is that an older journal, or that of another cluster, was put in place. The
// coordinator cannot know what was committed, so the job stands until an
// operator decides (PROTOCOL 5.9).
#ifndef SKERRY_COORDINATOR_CORE_RULES_DIVERGENCE_H_
#define SKERRY_COORDINATOR_CORE_RULES_DIVERGENCE_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// Ends all lives of the job, and has it stand, once a worker shows such a
// history.
void DecideDivergence(JobState& job, const Decider& decider);

// Why the job stands and what is safe, in words. Requires: it stands.
std::string DivergenceText(const JobState& job, const WorkerTable& workers);

// These carry out the operator's decision. Errors: FailedPrecondition when
// there is nothing to decide, or the chosen state is not there.
//
// The job goes on with the newest state that workers hold. Every worker that is
// there and has a folder of the job must have told what it holds, and all must
// agree. Samples after the journal's end are trained on again.
absl::Status AdoptWorkers(JobState& job, const Decider& decider);
// Takes the job back to a checkpoint, which the journal need not know. That is
// also allowed when no worker that is there holds the job's state. Sequences go
// on far above everything that a worker has shown.
absl::Status GoBackToSaved(JobState& job, const Decider& decider,
                           Checkpointed saved);

// Ends the life of a worker that has heard of record `seen`, which the journal
// does not have. Its trainer may have been granted samples, and been told of
// commits, that nobody knows of here.
void EndLaterLife(JobState& job, const Decider& decider,
                  const std::string& worker, Revision seen);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_DIVERGENCE_H_
