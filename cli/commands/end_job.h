// cli/commands/end_job.h
//
// skerryctl cancel and delete job: end a job, or forget one that has ended.
#ifndef SKERRY_CLI_COMMANDS_END_JOB_H_
#define SKERRY_CLI_COMMANDS_END_JOB_H_

#include <string>

#include "cli/command.h"

namespace skerry::cli {

struct EndJobArguments {
  std::string name;
  // Does not ask.
  bool sure = false;
};

// A finished job stays as it is when it is cancelled; only a finished one is
// deleted.
Command CancelCommand();
Command DeleteJobCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_END_JOB_H_
