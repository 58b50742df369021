// cli/commands/pause.h
//
// skerryctl pause and resume: hold a job, and let it go on.
#ifndef SKERRY_CLI_COMMANDS_PAUSE_H_
#define SKERRY_CLI_COMMANDS_PAUSE_H_

#include "cli/command.h"

namespace skerry::cli {

// Both refuse a job that has ended.
Command PauseCommand();
Command ResumeCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_PAUSE_H_
