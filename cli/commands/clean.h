// cli/commands/clean.h
//
// skerryctl clean: removes folders from a worker's disk that only an operator
// can decide about, above all those that a coordinator does not know because it
// has lost its journal.
#ifndef SKERRY_CLI_COMMANDS_CLEAN_H_
#define SKERRY_CLI_COMMANDS_CLEAN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/client.h"
#include "cli/output.h"

namespace skerry::cli {

// Without `folders` all those of jobs that the coordinator does not know.
//
// Errors: the client's; InvalidArgument, a name is none of a folder;
// FailedPrecondition when who is asked does not want it.
absl::Status CleanWorker(Client& client, const std::string& worker,
                         const std::vector<std::string>& folders, bool sure,
                         const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_CLEAN_H_
