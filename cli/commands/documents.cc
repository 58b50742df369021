#include "cli/commands/documents.h"

#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "base/status.h"
#include "data/json_lines.h"

namespace skerry::cli {
namespace {

// Where validation begins inside the document that the cut falls into, `at`
// bytes after its start. Requires: at > 0.
size_t CutInside(const Document& document, size_t at, bool is_last) {
  const size_t size = document.text.size();
  if (!document.may_be_cut) return is_last ? 0 : size;
  const size_t end = document.text.find('\n', at - 1);
  if (end != std::string::npos && end + 1 < size) return end + 1;
  return is_last ? at : size;
}

}  // namespace

absl::StatusOr<std::vector<Document>> ReadDocuments(
    const std::vector<std::string>& paths, const std::string& json_key,
    std::string_view json_line_end, const runtime::Files& files) {
  std::vector<Document> documents;
  for (const std::string& path : paths) {
    SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                            files.Read(path));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                bytes.size());
    if (!absl::EndsWith(path, ".jsonl")) {
      if (!text.empty()) documents.push_back({std::string(text), true});
      continue;
    }
    absl::StatusOr<std::vector<std::string>> texts =
        data::ReadJsonLines(text, json_key);
    if (!texts.ok()) return Annotate(texts.status(), path);
    for (std::string& one : *texts) {
      documents.push_back({std::move(one.append(json_line_end)), false});
    }
  }
  return documents;
}

DocumentSplits SplitDocuments(const std::vector<Document>& documents,
                              double fraction) {
  size_t total = 0;
  for (const Document& document : documents) total += document.text.size();
  const size_t kept =
      static_cast<size_t>(static_cast<double>(total) * fraction);
  const size_t cut = total - kept;
  DocumentSplits splits;
  size_t begin = 0;
  for (size_t i = 0; i < documents.size(); ++i) {
    const std::string_view text = documents[i].text;
    const size_t end = begin + text.size();
    if (end <= cut) {
      splits.training.push_back(text);
    } else if (begin >= cut) {
      splits.validation.push_back(text);
    } else {
      const size_t inside =
          CutInside(documents[i], cut - begin, i + 1 == documents.size());
      if (inside > 0) splits.training.push_back(text.substr(0, inside));
      if (inside < text.size()) {
        splits.validation.push_back(text.substr(inside));
      }
    }
    begin = end;
  }
  return splits;
}

}  // namespace skerry::cli
