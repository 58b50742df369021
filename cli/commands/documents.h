// cli/commands/documents.h
//
// The texts that a data set is made of, and which of them validate.
#ifndef SKERRY_CLI_COMMANDS_DOCUMENTS_H_
#define SKERRY_CLI_COMMANDS_DOCUMENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/files.h"

namespace skerry::cli {

struct Document {
  std::string text;
  // Whether it may be cut at the end of a line.
  bool may_be_cut = true;
};

// A file whose name ends in .jsonl has a document a line, under `json_key`;
// `json_line_end` goes after each. Any other file is one document. Errors:
// those of `files`; InvalidArgument that names file and line.
absl::StatusOr<std::vector<Document>> ReadDocuments(
    const std::vector<std::string>& paths, const std::string& json_key,
    std::string_view json_line_end, const runtime::Files& files);

// Parts of documents, in order.
struct DocumentSplits {
  std::vector<std::string_view> training;
  std::vector<std::string_view> validation;
};

// Validation begins `fraction` of the bytes before the end, moved on to the
// start of a line or document unless that would leave nothing. Views of
// `documents`.
DocumentSplits SplitDocuments(const std::vector<Document>& documents,
                              double fraction);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DOCUMENTS_H_
