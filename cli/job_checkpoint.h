// cli/job_checkpoint.h
//
// Completes what a job file says about the checkpoint that the job starts from.
// This happens at submit, so that every worker finds the same bytes.
#ifndef SKERRY_CLI_JOB_CHECKPOINT_H_
#define SKERRY_CLI_JOB_CHECKPOINT_H_

#include "absl/status/status.h"
#include "proto/skerry/v1/job.pb.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"

namespace skerry::cli {

// Looks up `newest`; fills in the hash, the samples of a job that goes on, and
// the model's config when the job names none. `spec` names a checkpoint, and
// the hash of its data set is there. Does nothing when the job names the
// checkpoint's hash: its folder may be on the workers alone.
//
// Errors: InvalidArgument, naming the field, for what cannot be found, another
// model than the job's, and a job that cannot go on because its samples mean
// something else than those of the checkpoint.
absl::Status CompleteCheckpoint(runtime::BlobStores& places,
                                runtime::Files& files, v1::JobSpec* spec);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_JOB_CHECKPOINT_H_
