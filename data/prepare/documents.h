// data/prepare/documents.h
//
// Reads the texts of input files into memory, all at once.
#ifndef SKERRY_DATA_PREPARE_DOCUMENTS_H_
#define SKERRY_DATA_PREPARE_DOCUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/json_lines.h"
#include "data/text_kind.h"
#include "runtime/files.h"

namespace skerry::data {

struct Documents {
  std::vector<std::string> texts;
  // What was counted of JSON lines.
  JsonLineCounts lines;
};

// Reads files of every kind that input_reader.h does: a text is one document,
// and JSON lines have one a line. Errors: InvalidArgument that names file, line
// and column; those of `files`.
absl::StatusOr<Documents> ReadDocuments(const std::vector<std::string>& paths,
                                        const JsonLinesForm& form,
                                        std::optional<TextKind> kind,
                                        const runtime::Files& files);

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_DOCUMENTS_H_
