// cli/commands/documents.h
//
// The texts of input files, all at once.
#ifndef SKERRY_CLI_COMMANDS_DOCUMENTS_H_
#define SKERRY_CLI_COMMANDS_DOCUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/files.h"

namespace skerry::cli {

// A file whose name ends in .jsonl has a document a line, under `json_key`. Any
// other file is one document. Errors: those of `files`; InvalidArgument that
// names file and line.
absl::StatusOr<std::vector<std::string>> ReadDocuments(
    const std::vector<std::string>& paths, const std::string& json_key,
    const runtime::Files& files);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DOCUMENTS_H_
