// cli/commands/token.h
//
// skerryctl token: what lets new workers join.
#ifndef SKERRY_CLI_COMMANDS_TOKEN_H_
#define SKERRY_CLI_COMMANDS_TOKEN_H_

#include <string>

#include "absl/time/time.h"
#include "cli/command.h"

namespace skerry::cli {

struct TokenArguments {
  std::string island;
  std::string worker = "*";
  absl::Duration ttl = absl::Hours(24);
  uint32_t uses = 1;
  bool join_command = false;
};

Command CreateTokenCommand();
Command ListTokensCommand();
Command DeleteTokenCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_TOKEN_H_
