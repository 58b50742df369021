#include "data/json_lines.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

using Json = nlohmann::json;

absl::StatusOr<std::string> TextOf(std::string_view line,
                                   const std::string& key) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("no JSON object");
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no string under '", key, "'"));
  }
  return std::move(found->get_ref<std::string&>());
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadJsonLines(std::string_view lines,
                                                       const std::string& key) {
  std::vector<std::string> texts;
  for (size_t number = 1; !lines.empty(); ++number) {
    const size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    absl::StatusOr<std::string> text = TextOf(line, key);
    if (!text.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", text.status().message()));
    }
    texts.push_back(*std::move(text));
  }
  return texts;
}

}  // namespace skerry::data
