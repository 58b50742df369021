#include "data/json_lines.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
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

absl::Status ForEachJsonLine(std::string_view lines, const std::string& key,
                             size_t first_number,
                             absl::FunctionRef<void(JsonLine line)> take) {
  size_t begin = 0;
  for (size_t number = first_number; begin < lines.size(); ++number) {
    const size_t feed = lines.find('\n', begin);
    const size_t end = feed == std::string_view::npos ? lines.size() : feed + 1;
    const std::string_view line = lines.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      absl::StatusOr<std::string> text = TextOf(line, key);
      if (!text.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("line ", number, ": ", text.status().message()));
      }
      take({*std::move(text), begin, end});
    }
    begin = end;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ReadJsonLines(std::string_view lines,
                                                       const std::string& key) {
  std::vector<std::string> texts;
  SKERRY_RETURN_IF_ERROR(ForEachJsonLine(lines, key, 1, [&](JsonLine line) {
    texts.push_back(std::move(line.text));
  }));
  return texts;
}

}  // namespace skerry::data
