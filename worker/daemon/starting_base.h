// worker/daemon/starting_base.h
//
// Makes base 0 of a job that starts from a checkpoint.
#ifndef SKERRY_WORKER_DAEMON_STARTING_BASE_H_
#define SKERRY_WORKER_DAEMON_STARTING_BASE_H_

#include "absl/status/statusor.h"
#include "job/job_spec.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"
#include "worker/shell/job_ports.h"

namespace skerry::worker {

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
