// worker/daemon/starting_base.h
//
// Makes base 0 of a job that starts from a checkpoint.
#ifndef SKERRY_WORKER_DAEMON_STARTING_BASE_H_
#define SKERRY_WORKER_DAEMON_STARTING_BASE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/shared_bytes.h"
#include "checkpoint/tensor_table.h"
#include "job/job_spec.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"
#include "worker/core/effects.h"

namespace skerry::worker {

struct StartingBase {
  struct File {
    // All spans of a fragment, cut as the job cuts them.
    StoredFile file;
    // The bytes of each piece of `file`, in the same order.
    std::vector<SharedBytes> contents;
  };
  std::vector<File> files;  // by fragment
  // For the comparison with those of a program's trainer.
  checkpoint::TensorTable tensors;
};

// Reads the checkpoint that `job` names, and verifies it bit for bit. Outer
// momentum begins at zero if the checkpoint has none, and is left out if the
// job's method has none. May take long, and needs 24 bytes of memory a
// parameter. Requires: the job names a checkpoint. Errors: those of
// checkpoint::ReadStartingPoint.
absl::StatusOr<StartingBase> ReadStartingBase(const job::JobSpec& job,
                                              runtime::BlobStores& places,
                                              runtime::Files& files);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_STARTING_BASE_H_
