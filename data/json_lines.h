// data/json_lines.h
//
// Texts out of JSON lines: one object a line, the text under one of its keys.
#ifndef SKERRY_DATA_JSON_LINES_H_
#define SKERRY_DATA_JSON_LINES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::data {

// In order; blank lines count for nothing. Errors: InvalidArgument that names
// the line, when it is no object, or `key` is absent or no string.
absl::StatusOr<std::vector<std::string>> ReadJsonLines(std::string_view lines,
                                                       const std::string& key);

}  // namespace skerry::data

#endif  // SKERRY_DATA_JSON_LINES_H_
