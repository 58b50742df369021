#include "runtime/posix/state_folder.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace skerry::runtime {

absl::Status CheckStateFolder(const std::string& folder, Daemon user) {
  const bool for_worker = user == Daemon::kWorker;
  const std::string sign =
      absl::StrCat(folder, "/", for_worker ? kJournalFile : kJobsFolder);
  if (access(sign.c_str(), F_OK) != 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(folder, " is the state folder of a ",
                   for_worker ? "coordinator" : "worker", "; give this ",
                   for_worker ? "worker" : "coordinator",
                   " a folder of its own with --state"));
}

}  // namespace skerry::runtime
