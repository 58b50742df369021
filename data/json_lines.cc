#include "data/json_lines.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "data/json_line.h"

namespace skerry::data {
namespace {

absl::Status AtLine(size_t number, const absl::Status& status) {
  const bool has_column = absl::StartsWith(status.message(), "column ");
  return absl::InvalidArgumentError(absl::StrCat(
      "line ", number, has_column ? ", " : ": ", status.message()));
}

}  // namespace

void JsonLineCounts::Add(const JsonLineCounts& after) {
  documents += after.documents;
  empty += after.empty;
  if (skipped == 0) first_skipped = after.first_skipped;
  skipped += after.skipped;
}

absl::Status ForEachJsonLine(std::string_view lines, const JsonLinesForm& form,
                             size_t first_number,
                             absl::FunctionRef<void(JsonLine line)> take,
                             JsonLineCounts& counts) {
  size_t begin = 0;
  for (size_t number = first_number; begin < lines.size(); ++number) {
    const size_t feed = lines.find('\n', begin);
    const size_t end = feed == std::string_view::npos ? lines.size() : feed + 1;
    const std::string_view line = lines.substr(begin, end - begin);
    const size_t line_begin = std::exchange(begin, end);
    const size_t last = line.find_last_not_of(" \t\r\n");
    if (last == std::string_view::npos) continue;
    absl::StatusOr<std::string> text =
        TextOfJsonLine(line.substr(0, last + 1), form.key);
    if (text.ok()) {
      ++counts.documents;
      if (text->empty()) ++counts.empty;
      take({*std::move(text), line_begin, end});
      continue;
    }
    const absl::Status wrong = AtLine(number, text.status());
    if (form.bad_lines == BadLines::kStop) return wrong;
    if (counts.skipped++ == 0) {
      counts.first_skipped = std::string(wrong.message());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ReadJsonLines(
    std::string_view lines, const JsonLinesForm& form, JsonLineCounts& counts) {
  std::vector<std::string> texts;
  SKERRY_RETURN_IF_ERROR(ForEachJsonLine(
      lines, form, 1,
      [&](JsonLine line) { texts.push_back(std::move(line.text)); }, counts));
  return texts;
}

}  // namespace skerry::data
