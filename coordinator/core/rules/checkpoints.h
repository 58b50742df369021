// coordinator/core/rules/checkpoints.h
//
// Decides when a whole state of a job is saved, and which worker saves it.
//
// A state is due every spec.checkpoint.every sequences and at the end of the
// job. It is also due when a leaving worker is the last one with some spans,
// and before a job goes back if workers have a newer state than its newest
// checkpoint. Workers store the bases of such sequences anyway, so nobody
// stops: one worker reads them while the others go on. The choice of that
// worker is not durable. A worker says what it is saving, also to a coordinator
// that has just started. Another worker is chosen when it is lost, when it no
// longer serves the job, and when it forgets what it saves.
#ifndef SKERRY_COORDINATOR_CORE_RULES_CHECKPOINTS_H_
#define SKERRY_COORDINATOR_CORE_RULES_CHECKPOINTS_H_

#include <optional>
#include <string>
#include <string_view>

#include "coordinator/core/state/earliest.h"
#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// The state with which the job began when it last went back, which can be read
// again; unset when it never did. What workers held and an operator kept is no
// such state.
inline Sequence WentBackAt(const JobState& job) {
  return job.restored.has_value() ? job.restored->sequence : Sequence();
}

// What a current worker says of the checkpoint that it saves.
void TakeCheckpoint(JobState& job, const Decider& decider,
                    const std::string& worker, const JobFacts& facts);

void DecideCheckpoints(JobState& job, const Decider& decider);

void CollectCheckpoints(const JobState& job, const ClusterOptions& options,
                        Earliest& earliest);

// Whether the job, whose samples are all committed, should not end yet: its
// last state is not saved, and that has not failed.
bool AwaitsCheckpoint(const JobState& job);

// Why no worker that has a place could save to checkpoint.directory; empty when
// one could, when one has not answered, or when nothing is to be saved. A job
// does not begin while this says something.
std::string CheckpointFolderTrouble(const JobState& job);

// Without pieces: the worker saves that state already.
std::optional<protocol::CheckpointOrder> CheckpointOrderFor(
    const JobState& job, std::string_view worker);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_CHECKPOINTS_H_
