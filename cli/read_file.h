// cli/read_file.h
//
// Reads a small file that an operator has named, whole.
#ifndef SKERRY_CLI_READ_FILE_H_
#define SKERRY_CLI_READ_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace skerry::cli {

// Errors name the path and the cause. PermissionDenied: this user may not read
// the file. InvalidArgument: it cannot be read otherwise, or has more than
// `bytes_max` bytes.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t bytes_max);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_READ_FILE_H_
