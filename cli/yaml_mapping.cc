#include "cli/yaml_mapping.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/did_you_mean.h"
#include "cli/yaml_syntax.h"

namespace skerry::cli {

absl::Status WrongYaml(const std::string& path, const YAML::Mark& mark,
                       const std::string& what) {
  std::string place = path;
  if (!mark.is_null()) {
    absl::StrAppend(&place, ":", mark.line + 1, ":", mark.column + 1);
  }
  return absl::InvalidArgumentError(absl::StrCat(place, ": ", what));
}

absl::Status WithYaml(const std::string& path, const std::string& text,
                      absl::FunctionRef<absl::Status(const YAML::Node&)> read) {
  // yaml-cpp speaks in exceptions; they end here.
  try {
    return read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    const YamlProblem problem = ExplainYaml(text, error.mark.line + 1,
                                            error.mark.column + 1, error.msg);
    return absl::InvalidArgumentError(absl::StrCat(
        path, ":", problem.line, ":", problem.column, ": ", problem.what));
  }
}

absl::Status CheckYamlFields(const std::string& path, const YAML::Node& node,
                             const std::vector<std::string>& known) {
  if (!node.IsMap()) return WrongYaml(path, node.Mark(), "has to be a mapping");
  for (const auto& entry : node) {
    const std::string& name = entry.first.Scalar();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return WrongYaml(
          path, entry.first.Mark(),
          absl::StrCat("there is no field ", name, DidYouMean(name, known)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> YamlField(const std::string& path,
                                      const YAML::Node& node,
                                      const std::string& field) {
  const YAML::Node value = node[field];
  if (value.IsDefined() && value.IsScalar() && !value.Scalar().empty()) {
    return value.Scalar();
  }
  return WrongYaml(path, node.Mark(),
                   absl::StrCat("field ", field, " has to be a word"));
}

}  // namespace skerry::cli
