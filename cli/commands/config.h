// cli/commands/config.h
//
// skerryctl config: clusters by name.
#ifndef SKERRY_CLI_COMMANDS_CONFIG_H_
#define SKERRY_CLI_COMMANDS_CONFIG_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/config_file.h"
#include "cli/output.h"
#include "runtime/files.h"

namespace skerry::cli {

// All of them read the file at ConfigPath(), and change nothing when they fail.
// Errors: of config_file.h; NotFound for a context that there is not.
absl::Status GetContexts(const runtime::Files& files, const Output& output);
// `coordinator` is an address of this machine; else InvalidArgument.
absl::Status SetContext(const std::string& name, const std::string& coordinator,
                        runtime::Files& files, const Output& output);
absl::Status UseContext(const std::string& name, runtime::Files& files,
                        const Output& output);
absl::Status DeleteContext(const std::string& name, runtime::Files& files);

// The address that a command without --coordinator speaks to: of the context
// `name`, else of the current one, else `otherwise`.
absl::StatusOr<std::string> ResolveCoordinator(const std::string& name,
                                               const std::string& otherwise,
                                               const runtime::Files& files);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_CONFIG_H_
