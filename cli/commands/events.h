// cli/commands/events.h
//
// skerryctl events, which is also called logs: prints the history of a job or a
// worker.
#ifndef SKERRY_CLI_COMMANDS_EVENTS_H_
#define SKERRY_CLI_COMMANDS_EVENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cli/command.h"

namespace skerry::cli {

struct EventArguments {
  // The job; none when the worker is given.
  std::string job;
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

// Prints one event a line, oldest first. With `follow` it goes on until the job
// ends.
Command LogsCommand();
Command EventsCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_EVENTS_H_
