// coordinator/core/restore.h
//
// Going back (PROTOCOL 5.6): when no worker that is there can bring some spans
// to the newest sequence, the job's next state is that of its newest
// checkpoint. Sequences go on rising; what was committed since the checkpoint
// is lost, and its samples are trained on again.
#ifndef SKERRY_COORDINATOR_CORE_RESTORE_H_
#define SKERRY_COORDINATOR_CORE_RESTORE_H_

#include <optional>

#include "coordinator/core/earliest.h"
#include "coordinator/core/job_state.h"

namespace skerry::coordinator {

// Waits until what the workers have has not changed for restore_wait, so that a
// disk may come back; thirty times as long while one of them is on its way to
// what is on a disk. Without workers nothing is decided, and without a
// checkpoint the job waits.
void DecideRestore(JobState& job, const Decider& decider);

void CollectRestore(const JobState& job, const ClusterOptions& options,
                    Earliest& earliest);

// The newest time that the job went back; unset when it never did.
std::optional<RestoredState> RestoredStateOf(const JobState& job);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RESTORE_H_
