// data/json_lines.h
//
// Texts out of JSON lines: one object a line, the text under one of its keys.
#ifndef SKERRY_DATA_JSON_LINES_H_
#define SKERRY_DATA_JSON_LINES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::data {

struct JsonLine {
  std::string text;
  // Where the line begins among the lines, and where it ends with its line
  // feed.
  size_t begin = 0;
  size_t end = 0;
};

// Hands over the texts in order; blank lines count for nothing. Errors:
// InvalidArgument that names the line, the first of which has the number
// `first_number`, when it is no object, or `key` is absent or no string.
absl::Status ForEachJsonLine(std::string_view lines, const std::string& key,
                             size_t first_number,
                             absl::FunctionRef<void(JsonLine line)> take);

// The texts alone.
absl::StatusOr<std::vector<std::string>> ReadJsonLines(std::string_view lines,
                                                       const std::string& key);

}  // namespace skerry::data

#endif  // SKERRY_DATA_JSON_LINES_H_
