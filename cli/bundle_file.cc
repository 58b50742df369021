#include "cli/bundle_file.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/yaml_mapping.h"

namespace skerry::cli {
namespace {

constexpr size_t kBundleBytesMax = 256 << 10;

}  // namespace

absl::StatusOr<identity::OperatorBundle> ParseBundle(const std::string& path,
                                                     const std::string& text) {
  if (text.size() > kBundleBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": more than ", kBundleBytesMax, " bytes"));
  }
  identity::OperatorBundle bundle;
  const std::pair<std::string, std::string*> fields[] = {
      {std::string(identity::kBundleAddress), &bundle.address},
      {std::string(identity::kBundleCa), &bundle.authorities},
      {std::string(identity::kBundleCertificate), &bundle.chain},
      {std::string(identity::kBundleKey), &bundle.key}};
  SKERRY_RETURN_IF_ERROR(
      WithYaml(path, text, [&](const YAML::Node& root) -> absl::Status {
        SKERRY_RETURN_IF_ERROR(
            CheckYamlFields(path, root,
                            {fields[0].first, fields[1].first, fields[2].first,
                             fields[3].first}));
        for (const auto& [field, value] : fields) {
          SKERRY_ASSIGN_OR_RETURN(*value, YamlField(path, root, field));
        }
        return absl::OkStatus();
      }));
  return bundle;
}

}  // namespace skerry::cli
