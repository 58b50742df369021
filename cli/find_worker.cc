#include "cli/find_worker.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::cli {

absl::StatusOr<v1::WorkerView> FindWorker(Client& client,
                                          const std::string& name) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListWorkersReply all, client.ListWorkers());
  for (const v1::WorkerView& worker : all.workers()) {
    if (worker.worker() == name) return worker;
  }
  return absl::NotFoundError(absl::StrCat("no worker named ", name));
}

}  // namespace skerry::cli
