// runtime/posix/state_folder.h
//
// Distinguishes the state folders of a coordinator and of a worker, so that
// neither daemon starts on the other's.
#ifndef SKERRY_RUNTIME_POSIX_STATE_FOLDER_H_
#define SKERRY_RUNTIME_POSIX_STATE_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace skerry::runtime {

// A coordinator's folder has its journal, a worker's its jobs.
inline constexpr char kJournalFile[] = "journal.db";
inline constexpr char kJobsFolder[] = "jobs";

enum class Daemon { kCoordinator, kWorker };

// FailedPrecondition when `folder` is the state folder of the other daemon. OK
// when it is empty, missing, or of this one.
absl::Status CheckStateFolder(const std::string& folder, Daemon user);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_STATE_FOLDER_H_
