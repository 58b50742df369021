// cli/commands/change.h
//
// skerryctl submit, apply, cancel, delete, pause, resume, cordon, uncordon and
// drain.
#ifndef SKERRY_CLI_COMMANDS_CHANGE_H_
#define SKERRY_CLI_COMMANDS_CHANGE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client.h"
#include "cli/output.h"

namespace skerry::cli {

// Prints the job's name, which is the answer; what to do next goes to `err`.
// Errors: of ReadJobFile and the client's.
absl::StatusOr<std::string> SubmitJob(Client& client, const std::string& file,
                                      const Output& output);
// As SubmitJob, but the same job again is no error: it stays as it is, whether
// it has ended or not. Prints its name and "submitted" or "unchanged".
absl::Status ApplyJob(Client& client, const std::string& file,
                      const Output& output);
// A finished job stays as it is. Errors: the client's; FailedPrecondition when
// who is asked does not want it.
absl::Status CancelJob(Client& client, const std::string& name, bool sure,
                       const Output& output);
// Errors: as CancelJob; FailedPrecondition when it has not ended.
absl::Status DeleteJob(Client& client, const std::string& name, bool sure,
                       const Output& output);
// Errors: the client's; FailedPrecondition when the job has ended.
absl::Status PauseJob(Client& client, const std::string& name,
                      const Output& output);
absl::Status ResumeJob(Client& client, const std::string& name,
                       const Output& output);
// Prints the worker's state as it then is; a drain goes on behind it. Errors:
// the client's.
absl::Status SetIntent(Client& client, const std::string& worker,
                       v1::WorkerIntent intent, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_CHANGE_H_
