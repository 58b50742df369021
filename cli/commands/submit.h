// cli/commands/submit.h
//
// skerryctl submit and apply: start a job.
#ifndef SKERRY_CLI_COMMANDS_SUBMIT_H_
#define SKERRY_CLI_COMMANDS_SUBMIT_H_

#include "cli/command.h"

namespace skerry::cli {

// submit prints the job's name, which is the answer; what to do next goes to
// `err`. The same job again is no error for apply: it stays as it is, whether
// it has ended or not. apply prints its name and "submitted" or "unchanged".
Command SubmitCommand();
Command ApplyCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_SUBMIT_H_
