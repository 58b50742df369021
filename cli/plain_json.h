// cli/plain_json.h
//
// Reads a single YAML value that no schema describes, such as a parameter of a
// user's program.
#ifndef SKERRY_CLI_PLAIN_JSON_H_
#define SKERRY_CLI_PLAIN_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace skerry::cli {

// The value of a scalar as JSON. `tag` is what yaml-cpp calls it: "?" for a
// plain word, "!" for one in quotes, else the tag in the file. A word in quotes
// is text. Other words are null, true, false or a number where they look like
// one, and text otherwise. Whole numbers stay whole: 1_000 is one, 1e3 and 8.0
// are not.
//
// Errors: InvalidArgument, whose message says what to write instead, for 010
// and 0x10, which readers understand differently, for numbers that JSON or 64
// bits cannot hold, and for tags.
absl::StatusOr<nlohmann::json> PlainJson(const std::string& text,
                                         std::string_view tag);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_PLAIN_JSON_H_
