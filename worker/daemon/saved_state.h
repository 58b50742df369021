// worker/daemon/saved_state.h
//
// Saves a whole state of a job as a checkpoint in the job's checkpoint folder,
// and checks whether a worker could.
#ifndef SKERRY_WORKER_DAEMON_SAVED_STATE_H_
#define SKERRY_WORKER_DAEMON_SAVED_STATE_H_

#include <string>

#include "absl/status/status.h"
#include "base/ids.h"
#include "proto/skerry/v1/control.pb.h"
#include "runtime/files.h"
#include "worker/daemon/state_saver.h"

namespace skerry::worker {

// Writes and verifies the checkpoint, or verifies it if it is there already.
// Then removes checkpoints beyond the number to keep. Blocks.
v1::CheckpointOutcome SaveState(const StateToSave& state,
                                runtime::Files& files);

// Whether `worker` could save checkpoints of the job to its folder. An error
// names the folder. Blocks.
absl::Status CheckCheckpointFolder(JobId job, const v1::JobSpec& spec,
                                   const std::string& worker,
                                   runtime::Files& files);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_SAVED_STATE_H_
