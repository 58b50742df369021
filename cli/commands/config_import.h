// cli/commands/config_import.h
//
// skerryctl config import: takes an operator's bundle into use.
#ifndef SKERRY_CLI_COMMANDS_CONFIG_IMPORT_H_
#define SKERRY_CLI_COMMANDS_CONFIG_IMPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "runtime/files.h"

namespace skerry::cli {

Command ImportConfigCommand();

// Writes the key and the certificates of the bundle in `text` beside the
// configuration at `config_path`, and makes a context of it the current one.
// Without `name` the context has the cluster's. `path` is what errors call the
// bundle. Returns the context.
//
// Errors: InvalidArgument, in one line: the text, or what it holds, is none
// that an operator can use now; those of the disk.
absl::StatusOr<Context> ImportBundle(const std::string& path,
                                     const std::string& text,
                                     const std::string& name,
                                     const std::string& config_path,
                                     absl::Time now, runtime::Files& files);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_CONFIG_IMPORT_H_
