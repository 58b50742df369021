// cli/commands/config.h
//
// skerryctl config: clusters by name.
#ifndef SKERRY_CLI_COMMANDS_CONFIG_H_
#define SKERRY_CLI_COMMANDS_CONFIG_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "runtime/files.h"

namespace skerry::transport {
class Credentials;
}  // namespace skerry::transport

namespace skerry::cli {

// All of them read the file at ConfigPath(), and change nothing when they fail.
Command GetContextsCommand();
Command SetContextCommand();
Command UseContextCommand();
Command DeleteContextCommand();

// The cluster that a command without --coordinator speaks to: the context
// `name`, else the current one, else one without a name at `otherwise`.
absl::StatusOr<Context> ResolveContext(const std::string& name,
                                       const std::string& otherwise,
                                       const runtime::Files& files);

// Who the operator is there. Errors: those of Credentials::FromFiles.
absl::StatusOr<std::shared_ptr<transport::Credentials>> CredentialsOf(
    const Context& context, const runtime::Files& files);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_CONFIG_H_
