// cli/commands/top.h
//
// skerryctl top: jobs and workers as they go on.
#ifndef SKERRY_CLI_COMMANDS_TOP_H_
#define SKERRY_CLI_COMMANDS_TOP_H_

#include <cstdint>

#include "absl/time/time.h"
#include "cli/command.h"

namespace skerry::cli {

struct TopArguments {
  absl::Duration interval = absl::Seconds(2);
  // Looks; 0: until it is interrupted.
  uint64_t count = 0;
};

// On a terminal each look takes the place of the one before it.
Command TopCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_TOP_H_
