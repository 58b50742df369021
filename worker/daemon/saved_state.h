// worker/daemon/saved_state.h
//
// Saves a whole state of a job as a checkpoint where the job keeps them,
// and checks whether a worker could.
#ifndef SKERRY_WORKER_DAEMON_SAVED_STATE_H_
#define SKERRY_WORKER_DAEMON_SAVED_STATE_H_

#include <string>

#include "absl/status/status.h"
#include "base/ids.h"
#include "job/job_spec.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"
#include "worker/daemon/state_saver.h"

namespace skerry::worker {

// Writes and verifies the checkpoint, or verifies it if it is there already.
// Then removes checkpoints beyond the number to keep. Blocks.
CheckpointFact SaveState(const StateToSave& state, runtime::BlobStores& places,
                         runtime::Files& files);

// Whether `worker` could save checkpoints of the job to its folder. An error
// names the folder. Blocks.
absl::Status CheckCheckpointFolder(JobId job, const job::JobSpec& spec,
                                   const std::string& worker,
                                   runtime::BlobStores& places);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_SAVED_STATE_H_
