// Any bytes as a JSON line: what the library for JSON reads as an object is
// read, with the same text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "data/json_line.h"
#include "nlohmann/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto text = skerry::data::TextOfJsonLine(line, "text");
  const bool is_object = skerry::data::CheckJsonObject(line).ok();
  SKERRY_CHECK(!text.ok() || is_object);
  if (!text.ok()) {
    SKERRY_CHECK(text.status().message().find('\n') == absl::string_view::npos);
  }
  // The library takes a zero for the end.
  if (line.find('\0') != line.npos) return 0;
  const nlohmann::json json =
      nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return 0;
  SKERRY_CHECK(is_object);
  const auto found = json.find("text");
  const bool has_text = found != json.end() && found->is_string();
  SKERRY_CHECK(text.ok() == has_text);
  if (has_text) SKERRY_CHECK(*text == found->get<std::string>());
  return 0;
}
