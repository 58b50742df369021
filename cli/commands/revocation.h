// cli/commands/revocation.h
//
// Commands about certificates that nobody in the cluster believes any more.
#ifndef SKERRY_CLI_COMMANDS_REVOCATION_H_
#define SKERRY_CLI_COMMANDS_REVOCATION_H_

#include "cli/command.h"

namespace skerry::cli {

Command RevokeCommand();
Command ListRevocationsCommand();
Command LiftRevocationCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_REVOCATION_H_
