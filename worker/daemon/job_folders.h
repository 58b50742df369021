// worker/daemon/job_folders.h
//
// Lists and removes the jobs' folders under a worker's state folder.
// STATE/jobs/JOB-UID holds the files of one job, and STATE/jobs/JOB-UID.ended
// says when this worker heard that the job has ended
// (docs/formats/worker_store.md).
#ifndef SKERRY_WORKER_DAEMON_JOB_FOLDERS_H_
#define SKERRY_WORKER_DAEMON_JOB_FOLDERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/files.h"
#include "worker/core/state_folders.h"

namespace skerry::worker {

// All calls may block, and take the worker's state folder.
std::string PathOf(const std::string& state, const StoredJobKey& folder);
absl::StatusOr<std::vector<StoredJob>> ListJobFolders(
    const runtime::Files& files, const std::string& state);
// Writes when the job ended; 0 removes what says so.
absl::Status MarkEnded(runtime::Files& files, const std::string& state,
                       const StoredJobKey& folder, int64_t unix_ms);
// Removes the folder with all files in it, then its mark.
absl::Status RemoveJobFolder(runtime::Files& files, const std::string& state,
                             const StoredJobKey& folder);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_FOLDERS_H_
