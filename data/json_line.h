// data/json_line.h
//
// One line of JSON, read as Python's json module reads it: NaN and Infinity are
// taken, and half of a surrogate pair becomes U+FFFD.
#ifndef SKERRY_DATA_JSON_LINE_H_
#define SKERRY_DATA_JSON_LINE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::data {

// The string under `key` of the object that is the whole line; the last one
// when the key stands there several times. Blanks around it and a byte order
// mark before it do not matter. Any bytes may be given, of any depth. Errors:
// InvalidArgument that begins with `column N: `, counted in characters from 1,
// or says that there is no such string.
absl::StatusOr<std::string> TextOfJsonLine(std::string_view line,
                                           std::string_view key);

// Whether the line is such an object, whatever its keys are.
absl::Status CheckJsonObject(std::string_view line);

}  // namespace skerry::data

#endif  // SKERRY_DATA_JSON_LINE_H_
