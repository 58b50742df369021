// coordinator/core/restore.h
//
// Going back (PROTOCOL 5.6): when no worker that is there can bring some spans
// to the newest sequence, the job's next state is the newest one that is left.
// That is its newest checkpoint, or what it began with while it has none; where
// workers still have bases of a newer whole state, that is saved as one first.
// Sequences go on rising; what was committed since is lost, and its samples are
// trained on again.
#ifndef SKERRY_COORDINATOR_CORE_RESTORE_H_
#define SKERRY_COORDINATOR_CORE_RESTORE_H_

#include <optional>

#include "coordinator/core/earliest.h"
#include "coordinator/core/job_state.h"

namespace skerry::coordinator {

// Waits until what the workers have has not changed for restore_wait, so that a
// disk may come back; thirty times as long while one of them is on its way to
// what is on a disk. Without workers nothing is decided, and a job that saves
// no checkpoints waits. Lives that wait for a lost result are ended first.
void DecideRestore(JobState& job, const Decider& decider);

void CollectRestore(const JobState& job, const ClusterOptions& options,
                    Earliest& earliest);

// The newest time that the job went back; unset when it never did.
std::optional<protocol::RestoredState> RestoredStateOf(const JobState& job);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RESTORE_H_
