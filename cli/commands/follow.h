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

// A line, or a JSON object a line, at every change until the job ends. How it
// ended is the exit code. Errors: the client's.
absl::StatusOr<ExitCode> WatchJob(Client& client, const std::string& name,
                                  const Output& output);

struct WaitArguments {
  // A phase as PhaseText writes it, or "ended"; of a worker a state.
  std::string until;
  absl::Duration limit = absl::InfiniteDuration();
};

// What WaitJob and WaitWorker can wait for.
const std::vector<std::string>& PhasesToWaitFor();
const std::vector<std::string>& StatesToWaitFor();

// Prints the phase when it is reached. Says by its exit code how the job ended
// when it ended otherwise, or that the time was over. Errors: the client's.
absl::StatusOr<ExitCode> WaitJob(Client& client, const std::string& name,
                                 const WaitArguments& arguments,
                                 const Output& output);
// As WaitJob, for the state of a worker.
absl::StatusOr<ExitCode> WaitWorker(Client& client, const std::string& name,
                                    const WaitArguments& arguments,
                                    const Output& output);

struct EventArguments {
  // Of this worker instead of a job, unless it is empty.
  std::string worker;
  bool follow = false;
  // Of events that are shown; all when empty.
  std::vector<std::string> names;
  // Not older than this.
  absl::Duration since = absl::InfiniteDuration();
  // The newest this many; all when 0. Not with `follow`.
  uint64_t tail = 0;
};

// What Event.name can be.
const std::vector<std::string>& EventNames();

// One event a line, oldest first; with `follow` until the job ends. Errors: the
// client's.
absl::Status ShowEvents(Client& client, const std::string& name,
                        const EventArguments& arguments, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_FOLLOW_H_
