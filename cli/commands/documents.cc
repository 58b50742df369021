#include "cli/commands/documents.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "base/status.h"
#include "data/json_lines.h"

namespace skerry::cli {

absl::StatusOr<std::vector<std::string>> ReadDocuments(
    const std::vector<std::string>& paths, const std::string& json_key,
    const runtime::Files& files) {
  std::vector<std::string> documents;
  for (const std::string& path : paths) {
    SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                            files.Read(path));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                bytes.size());
    if (!absl::EndsWith(path, ".jsonl")) {
      if (!text.empty()) documents.emplace_back(text);
      continue;
    }
    absl::StatusOr<std::vector<std::string>> texts =
        data::ReadJsonLines(text, json_key);
    if (!texts.ok()) return Annotate(texts.status(), path);
    for (std::string& one : *texts) documents.push_back(std::move(one));
  }
  return documents;
}

}  // namespace skerry::cli
