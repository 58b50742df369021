// cli/commands/restore.h
//
// skerryctl restore: decides how a job goes on after workers have shown another
// history than the coordinator's journal.
#ifndef SKERRY_CLI_COMMANDS_RESTORE_H_
#define SKERRY_CLI_COMMANDS_RESTORE_H_

#include <string>

#include "absl/status/status.h"
#include "cli/client.h"
#include "cli/output.h"
#include "runtime/files.h"

namespace skerry::cli {

struct RestoreArguments {
  // Keep what the workers hold.
  bool from_workers = false;
  // Else go back to this one of the folder, or to the "newest".
  std::string checkpoint;
  // Where the checkpoints are; empty: in the folder that the job's file names.
  std::string folder;
};

// Prints the job's name and its phase then. Errors: the client's;
// FailedPrecondition when the job does not stand for that reason, or what was
// chosen is not there; those of reading the checkpoint's manifest.
absl::Status RestoreJob(Client& client, const std::string& name,
                        const RestoreArguments& arguments,
                        runtime::Files& files, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_RESTORE_H_
