// cli/yaml_fields.h
//
// Converts YAML to the JSON of a message, field by field by the message's
// descriptor, so that every mistake is reported with its place in the file.
#ifndef SKERRY_CLI_YAML_FIELDS_H_
#define SKERRY_CLI_YAML_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/field_places.h"
#include "google/protobuf/descriptor.h"

namespace skerry::cli {

// A field that exists in the file and not in the message. The value of `key` in
// the mapping at `parent` becomes the string field `target` of that mapping.
struct ExtraField {
  enum class Kind {
    // The value is the path of a file, relative to the YAML file. The file's
    // text becomes the target.
    kFile,
    // The value is any mapping. Its JSON text becomes the target.
    kMapping,
  };
  Kind kind;
  std::string parent;
  std::string key;
  std::string target;
};

struct YamlReading {
  // What could be read; a field with a problem is null.
  std::string json;
  FieldPlaces places;
  std::vector<PlacedProblem> problems;
};

// Enum values may be written in full or without the enum's prefix, in any case,
// whole numbers as cli/number_text.h says.
// Bounds: 1 MiB of text, 64 levels, 100,000 values after aliases.
//
// Errors: InvalidArgument when the text is no YAML document.
absl::StatusOr<YamlReading> ReadYaml(const std::string& file_name,
                                     const std::string& text,
                                     const google::protobuf::Descriptor& type,
                                     const std::vector<ExtraField>& extras);

// Does the same for a caller that has no extra fields and stops at problems.
//
// Errors: InvalidArgument with every problem found, one a line, as
// file:line:column: field: what is wrong.
absl::StatusOr<std::string> YamlToJson(
    const std::string& file_name, const std::string& text,
    const google::protobuf::Descriptor& type);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_YAML_FIELDS_H_
