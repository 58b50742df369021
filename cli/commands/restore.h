// cli/commands/restore.h
//
// skerryctl restore: decides how a job goes on after workers have shown another
// history than the coordinator's journal.
#ifndef SKERRY_CLI_COMMANDS_RESTORE_H_
#define SKERRY_CLI_COMMANDS_RESTORE_H_

#include "cli/command.h"

namespace skerry::cli {

// Prints the job's name and its phase then. Errors also: FailedPrecondition
// when the job does not stand for that reason, or when what was chosen is not
// there.
Command RestoreCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_RESTORE_H_
