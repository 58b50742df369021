// cli/commands/follow.h
//
// skerryctl watch, wait, logs and events: a job as it goes on.
#ifndef SKERRY_CLI_COMMANDS_FOLLOW_H_
#define SKERRY_CLI_COMMANDS_FOLLOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace skerry::cli {

// Prints a line, or a JSON object on one line, at every change until the job
// ends. The exit code says how it ended. Errors: the client's.
absl::StatusOr<ExitCode> WatchJob(Client& client, const std::string& name,
                                  const Output& output);

struct WaitArguments {
  // For a job a phase as PhaseText writes it, or "ended". For a worker a state.
  std::string until;
  absl::Duration limit = absl::InfiniteDuration();
};

// What WaitJob and WaitWorker can wait for.
const std::vector<std::string>& PhasesToWaitFor();
const std::vector<std::string>& StatesToWaitFor();

// Prints the phase when it is reached. Otherwise the exit code says that the
// job ended or diverged first, or that the time was over. Errors: the client's.
absl::StatusOr<ExitCode> WaitJob(Client& client, const std::string& name,
                                 const WaitArguments& arguments,
                                 const Output& output);
// As WaitJob, for the state of a worker.
absl::StatusOr<ExitCode> WaitWorker(Client& client, const std::string& name,
                                    const WaitArguments& arguments,
                                    const Output& output);

struct EventArguments {
  // Shows the events of this worker instead of a job's, unless it is empty.
  std::string worker;
  bool follow = false;
  // Names of the events that are shown; all when empty.
  std::vector<std::string> names;
  // Shows no events that are older than this.
  absl::Duration since = absl::InfiniteDuration();
  // Shows only the newest this many; all when 0. Not with `follow`.
  uint64_t tail = 0;
};

// What Event.name can be.
const std::vector<std::string>& EventNames();

// Prints one event a line, oldest first. With `follow` it goes on until the job
// ends. Errors: the client's.
absl::Status ShowEvents(Client& client, const std::string& name,
                        const EventArguments& arguments, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_FOLLOW_H_
