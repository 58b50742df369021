#include "data/prepare/documents.h"

#include <string_view>
#include <utility>

#include "base/status.h"
#include "data/prepare/input_reader.h"

namespace skerry::data {

absl::StatusOr<Documents> ReadDocuments(const std::vector<std::string>& paths,
                                        const JsonLinesForm& form,
                                        std::optional<TextKind> kind,
                                        const runtime::Files& files) {
  Documents documents;
  for (const std::string& path : paths) {
    SKERRY_ASSIGN_OR_RETURN(InputReader reader,
                            InputReader::Open(path, path, kind, files));
    SKERRY_ASSIGN_OR_RETURN(const std::string_view text, reader.ReadAll());
    if (reader.kind() == TextKind::kText) {
      if (!text.empty()) documents.texts.emplace_back(text);
      continue;
    }
    JsonLineCounts counts;
    absl::StatusOr<std::vector<std::string>> texts =
        ReadJsonLines(text, form, counts);
    if (!texts.ok()) return Annotate(texts.status(), path);
    documents.lines.Add(counts);
    for (std::string& one : *texts) documents.texts.push_back(std::move(one));
  }
  return documents;
}

}  // namespace skerry::data
