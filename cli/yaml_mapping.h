// cli/yaml_mapping.h
//
// Reads small YAML files of known fields, and says where they are wrong.
#ifndef SKERRY_CLI_YAML_MAPPING_H_
#define SKERRY_CLI_YAML_MAPPING_H_

#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::cli {

// Every error is InvalidArgument, and begins with `path`, line and column.

absl::Status WrongYaml(const std::string& path, const YAML::Mark& mark,
                       const std::string& what);

// Calls `read` with the document. Errors: those of `read`; the text is no YAML.
absl::Status WithYaml(const std::string& path, const std::string& text,
                      absl::FunctionRef<absl::Status(const YAML::Node&)> read);

// Checks that the node is a mapping of plain words to `known` fields.
absl::Status CheckYamlFields(const std::string& path, const YAML::Node& node,
                             const std::vector<std::string>& known);

// The text of a field that has to be there.
absl::StatusOr<std::string> YamlField(const std::string& path,
                                      const YAML::Node& node,
                                      const std::string& field);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_YAML_MAPPING_H_
