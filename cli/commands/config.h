// cli/commands/config.h
//
// skerryctl config: clusters by name.
#ifndef SKERRY_CLI_COMMANDS_CONFIG_H_
#define SKERRY_CLI_COMMANDS_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/command.h"
#include "runtime/files.h"

namespace skerry::cli {

// All of them read the file at ConfigPath(), and change nothing when they fail.
Command GetContextsCommand();
Command SetContextCommand();
Command UseContextCommand();
Command DeleteContextCommand();

// The address that a command without --coordinator speaks to: of the context
// `name`, else of the current one, else `otherwise`.
absl::StatusOr<std::string> ResolveCoordinator(const std::string& name,
                                               const std::string& otherwise,
                                               const runtime::Files& files);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_CONFIG_H_
