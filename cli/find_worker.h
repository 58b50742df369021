// cli/find_worker.h
//
// Finds one worker among those that the coordinator lists.
#ifndef SKERRY_CLI_FIND_WORKER_H_
#define SKERRY_CLI_FIND_WORKER_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/client.h"

namespace skerry::cli {

// Errors: the client's; NotFound.
absl::StatusOr<v1::WorkerView> FindWorker(Client& client,
                                          const std::string& name);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_FIND_WORKER_H_
