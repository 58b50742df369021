// cli/commands/documents.h
//
// Reads the texts of input files into memory, all at once.
#ifndef SKERRY_CLI_COMMANDS_DOCUMENTS_H_
#define SKERRY_CLI_COMMANDS_DOCUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/json_lines.h"
#include "data/text_kind.h"
#include "runtime/files.h"

namespace skerry::cli {

struct Documents {
  std::vector<std::string> texts;
  // What was counted of JSON lines.
  data::JsonLineCounts lines;
};

// Reads files of every kind that input_reader.h does: a text is one document,
// and JSON lines have one a line. Errors: InvalidArgument that names file, line
// and column; those of `files`.
absl::StatusOr<Documents> ReadDocuments(const std::vector<std::string>& paths,
                                        const data::JsonLinesForm& form,
                                        std::optional<data::TextKind> kind,
                                        const runtime::Files& files);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DOCUMENTS_H_
