// model/safetensors/strict_json.h
//
// Parses JSON from untrusted files: no key twice in one object, bounded depth,
// no exceptions.
#ifndef SKERRY_MODEL_SAFETENSORS_STRICT_JSON_H_
#define SKERRY_MODEL_SAFETENSORS_STRICT_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace skerry::model {

// An object whose values nest at most `depth_max` deep, itself included.
// Errors: InvalidArgument, saying what is wrong.
absl::StatusOr<nlohmann::json> ParseStrictJson(std::string_view text,
                                               int depth_max);

// Compact. Errors: InvalidArgument for a string that is not UTF-8.
absl::StatusOr<std::string> DumpJson(const nlohmann::json& json);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SAFETENSORS_STRICT_JSON_H_
