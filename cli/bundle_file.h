// cli/bundle_file.h
//
// Reads an operator's bundle (identity/operator_bundle.h).
#ifndef SKERRY_CLI_BUNDLE_FILE_H_
#define SKERRY_CLI_BUNDLE_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "identity/operator_bundle.h"

namespace skerry::cli {

// Looks at the form alone: whether the texts are keys and certificates is not
// checked. Errors: InvalidArgument with `path`, line and column, which shows
// nothing of the values.
absl::StatusOr<identity::OperatorBundle> ParseBundle(const std::string& path,
                                                     const std::string& text);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_BUNDLE_FILE_H_
