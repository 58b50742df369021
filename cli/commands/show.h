// cli/commands/show.h
//
// skerryctl get, describe, audit and version: one question, one answer.
#ifndef SKERRY_CLI_COMMANDS_SHOW_H_
#define SKERRY_CLI_COMMANDS_SHOW_H_

#include <string>

#include "absl/status/status.h"
#include "cli/client.h"
#include "cli/listing.h"
#include "cli/output.h"

namespace skerry::cli {

// Errors: the client's.
absl::Status GetJobs(Client& client, const ListArguments& list,
                     const Output& output);
absl::Status GetJob(Client& client, const std::string& name,
                    const Output& output);
absl::Status GetWorkers(Client& client, const ListArguments& list,
                        const Output& output);
absl::Status GetIslands(Client& client, const ListArguments& list,
                        const Output& output);
// With the newest of its events.
absl::Status DescribeWorker(Client& client, const std::string& name,
                            const Output& output);
absl::Status DescribeJob(Client& client, const std::string& name,
                         const Output& output);
// Errors also: Internal when a sample is in two commits; the report is still
// printed.
absl::Status AuditData(Client& client, const std::string& name,
                       const Output& output);
absl::Status ShowVersion(Client& client, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_SHOW_H_
