// data/json_lines.h
//
// Reads texts from JSON lines: each line has one object, with the text under
// one of its keys.
#ifndef SKERRY_DATA_JSON_LINES_H_
#define SKERRY_DATA_JSON_LINES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::data {

// What becomes of a line that holds no text: the reader stops at it with an
// error, or skips and counts it.
enum class BadLines { kStop, kSkip };

struct JsonLine {
  std::string text;
  // Where the line begins among the lines, and where it ends with its line
  // feed.
  size_t begin = 0;
  size_t end = 0;
};

struct JsonLineCounts {
  uint64_t documents = 0;
  // Documents whose text is empty; they count as documents too.
  uint64_t empty = 0;
  uint64_t skipped = 0;
  // What is wrong with the first line that was skipped.
  std::string first_skipped;

  // Adds what was counted in the lines after these.
  void Add(const JsonLineCounts& after);
};

struct JsonLinesForm {
  // Key of the text.
  std::string key = "text";
  BadLines bad_lines = BadLines::kStop;
};

// Gives out the texts in order and adds to `counts`; blank lines do not count.
// Errors: InvalidArgument with the number of the line, counted from
// `first_number`, and the column of the mistake.
absl::Status ForEachJsonLine(std::string_view lines, const JsonLinesForm& form,
                             size_t first_number,
                             absl::FunctionRef<void(JsonLine line)> take,
                             JsonLineCounts& counts);

// The texts alone.
absl::StatusOr<std::vector<std::string>> ReadJsonLines(
    std::string_view lines, const JsonLinesForm& form, JsonLineCounts& counts);

}  // namespace skerry::data

#endif  // SKERRY_DATA_JSON_LINES_H_
