// coordinator/core/rules/restore.h
//
// Takes a job back (PROTOCOL 5.6). When no worker that is there can bring some
// spans to the newest sequence, the job's next state is the newest one that is
// left. That is its newest checkpoint, or its initial state while it has none.
// If workers still have bases of a newer whole state, that state is saved as a
// checkpoint first. Sequences go on rising. Commits after the chosen state are
// lost, and their samples are trained on again.
#ifndef SKERRY_COORDINATOR_CORE_RULES_RESTORE_H_
#define SKERRY_COORDINATOR_CORE_RULES_RESTORE_H_

#include <optional>

#include "coordinator/core/state/earliest.h"
#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// Waits until the workers' holdings have not changed for restore_wait, so that
// a disk may come back. Then workers without a place are asked for what they
// have. The job goes back at once, or after thirty such waits while a worker is
// still reaching a state that is on a disk. Without workers nothing is decided,
// and a job that saves no checkpoints waits. Lives that wait for a lost result
// are ended first.
void DecideRestore(JobState& job, const Decider& decider);

void CollectRestore(const JobState& job, const ClusterOptions& options,
                    Earliest& earliest);

// Takes the job back to its newest checkpoint, or, without one, to where it
// began. `why` is for operators. `initial_hash` is that of the values with
// which the job begins anew, if they are others than before. The job must have
// no replica.
void GoBack(JobState& job, const Decider& decider, const std::string& why,
            uint64_t initial_hash = 0);

// The newest time that the job went back; unset when it never did.
std::optional<protocol::RestoredState> RestoredStateOf(const JobState& job);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_RESTORE_H_
