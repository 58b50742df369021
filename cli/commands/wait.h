// cli/commands/wait.h
//
// skerryctl wait: waits until a job or a worker is as wanted.
#ifndef SKERRY_CLI_COMMANDS_WAIT_H_
#define SKERRY_CLI_COMMANDS_WAIT_H_

#include <string>

#include "absl/time/time.h"
#include "cli/command.h"

namespace skerry::cli {

struct WaitArguments {
  // The job or the worker.
  std::string name;
  // For a job a phase as PhaseText writes it, or "ended". For a worker a state.
  std::string until;
  absl::Duration limit = absl::InfiniteDuration();
};

// Both print the phase or state when it is reached. Otherwise the exit code
// says that the job ended or diverged first, or that the time was over.
Command WaitJobCommand();
Command WaitWorkerCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_WAIT_H_
