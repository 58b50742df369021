#include "coordinator/core/views/stored_jobs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/job_folder_name.h"
#include "base/status.h"

namespace skerry::coordinator {
namespace {

using protocol::StoredJob;

const char* FateText(JobFate fate) {
  switch (fate) {
    case JobFate::kUnknown:
      return "unknown";
    case JobFate::kLive:
      return "live";
    case JobFate::kEnded:
      return "ended";
    case JobFate::kDeleted:
      return "deleted";
  }
  return "";
}

absl::Status CheckRemovable(const JobTable& jobs, const WorkerTable& workers,
                            std::string_view name, const StoredJobKey& key) {
  SKERRY_RETURN_IF_ERROR(workers.Find(name).status());
  const Worker* worker = workers.FindCurrent(name);
  const absl::string_view who(name.data(), name.size());
  if (worker == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("worker ", who,
                     " is not connected; start it, or remove the folder on its "
                     "machine yourself"));
  }
  const auto& all = worker->stored.all;
  const bool has = std::any_of(
      all.begin(), all.end(),
      [&key](const StoredJob& stored) { return stored.key == key; });
  if (!has) {
    return absl::NotFoundError(
        absl::StrCat("worker ", who, " has no folder ",
                     JobFolderName(key.job.value(), key.uid)));
  }
  if (jobs.FateOf(key) == JobFate::kLive) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", key.job.value(),
                     " has not ended and needs its folder; cancel it first"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddStoredJobs(const JobTable& jobs, const Worker& worker, Orders& orders) {
  for (const StoredJob& stored : worker.stored.all) {
    const JobFate fate = jobs.FateOf(stored.key);
    const bool unwanted =
        worker.unwanted.contains(stored.key) && fate != JobFate::kLive;
    if (unwanted || fate == JobFate::kDeleted) {
      orders.removed_jobs.push_back(stored.key);
    } else if (fate == JobFate::kEnded) {
      orders.ended_jobs.push_back(stored.key);
    }
  }
}

absl::Status RemoveStoredJobs(const JobTable& jobs, WorkerTable& workers,
                              std::string_view worker,
                              protocol::StoredKeys keys) {
  for (const StoredJobKey& key : keys) {
    SKERRY_RETURN_IF_ERROR(CheckRemovable(jobs, workers, worker, key));
  }
  for (const StoredJobKey& key : keys) workers.RemoveStored(worker, key);
  return absl::OkStatus();
}

std::vector<StoredJobView> StoredJobsOf(const JobTable& jobs,
                                        const Worker& worker) {
  std::vector<StoredJobView> views;
  for (const StoredJob& stored : worker.stored.all) {
    const JobFate fate = jobs.FateOf(stored.key);
    StoredJobView view{stored.key, stored.bytes, FateText(fate), ""};
    if (const auto job = jobs.Find(stored.key.job);
        job.ok() && fate != JobFate::kUnknown) {
      view.name = (*job)->spec.name;
    }
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace skerry::coordinator
