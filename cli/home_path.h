// cli/home_path.h
//
// Replaces the ~ that begins a path in a job file by the home folder, as shells
// do on command lines.
#ifndef SKERRY_CLI_HOME_PATH_H_
#define SKERRY_CLI_HOME_PATH_H_

#include <string>

#include "absl/status/statusor.h"

namespace skerry::cli {

// A path that begins otherwise stays as it is. HOME names the folder.
//
// Errors: InvalidArgument for another person's home folder, such as ~bob/text,
// and without HOME.
absl::StatusOr<std::string> HomePath(const std::string& path);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_HOME_PATH_H_
