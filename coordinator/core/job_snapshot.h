// coordinator/core/job_snapshot.h
//
// Saves a job's durable state as plain values, restores it and hashes it.
#ifndef SKERRY_COORDINATOR_CORE_JOB_SNAPSHOT_H_
#define SKERRY_COORDINATOR_CORE_JOB_SNAPSHOT_H_

#include "absl/status/status.h"
#include "coordinator/core/job_state.h"
#include "coordinator/core/snapshot.h"
#include "coordinator/core/state_hash.h"

namespace skerry::coordinator {

JobSnapshot SaveJob(const JobState& job);
// Restores into a job that was just made from `saved.submitted`. Errors:
// DataLoss.
absl::Status RestoreJob(JobState& job, const JobSnapshot& saved);
// Hashes only the durable state, and nothing that was heard.
void HashInto(const JobState& job, StateHasher& hasher);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_JOB_SNAPSHOT_H_
