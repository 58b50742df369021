// coordinator/core/state/job_snapshot.h
//
// Saves a job's durable state as plain values, restores it and hashes it.
#ifndef SKERRY_COORDINATOR_CORE_STATE_JOB_SNAPSHOT_H_
#define SKERRY_COORDINATOR_CORE_STATE_JOB_SNAPSHOT_H_

#include "absl/status/status.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/log/state_hash.h"
#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

JobSnapshot SaveJob(const JobState& job);
// Restores into a job that was just made from `saved.submitted`. Errors:
// DataLoss.
absl::Status RestoreJob(JobState& job, const JobSnapshot& saved);
// Hashes only the durable state, and nothing that was heard.
void HashInto(const JobState& job, StateHasher& hasher);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_JOB_SNAPSHOT_H_
