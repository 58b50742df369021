// coordinator/core/state/job_table.h
//
// Holds all jobs that are remembered: the unfinished ones and the newest
// finished ones. It folds every journal record that is about a job.
#ifndef SKERRY_COORDINATOR_CORE_STATE_JOB_TABLE_H_
#define SKERRY_COORDINATOR_CORE_STATE_JOB_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/state/job_state.h"
#include "coordinator/core/state/options.h"

namespace skerry::coordinator {

// The job that a record is about; unset for records of workers.
JobId JobOf(const Entry& entry);

// What a coordinator knows of a job if some worker has a folder of it.
enum class JobFate { kUnknown, kLive, kEnded, kDeleted };

class JobTable;

// Adds the workers whose orders the record may change.
void CollectTouched(const JobTable& jobs, const Entry& entry,
                    absl::btree_set<std::string>& touched);

class JobTable {
 public:
  // A job stays where it is in memory until it is forgotten.
  using Jobs = std::map<JobId, JobState>;

  explicit JobTable(const ClusterOptions& options) : options_(options) {}

  // A submission may forget the oldest finished job, and a deletion forgets its
  // own; no other record does.
  // Errors: DataLoss when the record is not about a known job or does not
  // follow.
  absl::Status Apply(const Entry& entry);

  // By number.
  std::vector<JobSnapshot> Save() const;
  // Into an empty table. Errors: DataLoss, naming the job.
  absl::Status Restore(const std::vector<JobSnapshot>& saved,
                       const std::vector<GoneJob>& gone);
  // The newest jobs that are remembered no longer, by number.
  std::vector<GoneJob> SaveGone() const;

  // Returns the job that a reviewed submission repeats, or unset when it would
  // be a new one. With `apply`, the newest job of that name is the answer if it
  // has this content. Errors: as Cluster::Submit.
  absl::StatusOr<std::optional<JobId>> Place(const job::JobSpec& spec,
                                             std::string_view key,
                                             bool apply) const;

  // Errors: as Cluster::Delete.
  absl::Status CheckDeletable(JobId job) const;

  // Returns what has become of the job with this number and uid. It is kUnknown
  // if the coordinator knows no such job, or only one with another uid.
  JobFate FateOf(const StoredJobKey& key) const;

  Jobs& all() { return jobs_; }
  const Jobs& all() const { return jobs_; }
  // Errors: NotFound.
  absl::StatusOr<JobState*> Find(JobId job);
  absl::StatusOr<const JobState*> Find(JobId job) const;
  // Errors: also FailedPrecondition when the job has ended.
  absl::StatusOr<JobState*> FindUnfinished(JobId job);
  // Returns the newest job of that name. Errors: NotFound.
  absl::StatusOr<JobId> FindName(std::string_view name) const;
  // Returns the queue as it is now. It is valid until a job or worker changes.
  JobQueue QueueFor(const WorkerTable& workers) const;
  // Returns the turn of a job that is not submitted yet.
  Turn TurnOfNext(const job::JobSpec& spec, const WorkerTable& workers) const;

  void HashInto(StateHasher& hasher) const;
  // Stops the process unless the parts of each job agree.
  void CheckInvariants(const WorkerTable& workers) const;

 private:
  void ForgetOldest();
  // Remembers its end alone.
  Jobs::iterator Forget(Jobs::iterator job, bool deleted);
  std::vector<QueuedJob> Queued() const;

  const ClusterOptions options_;
  Jobs jobs_;
  // Durable, but no part of the hash: releases before it do not know of them.
  std::map<JobId, GoneJob> gone_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_JOB_TABLE_H_
