#include "cli/yaml_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/ascii.h"
#include "nlohmann/json.hpp"

namespace skerry::cli {
namespace {

using nlohmann::ordered_json;

// Words that YAML 1.1 or 1.2 reads as something else than text.
constexpr std::array<std::string_view, 11> kSpecial = {
    "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"};

bool IsPlain(const std::string& text) {
  if (text.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(text[0])))
    return false;
  const bool safe = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.' ||
           c == '/';
  });
  const std::string lower = absl::AsciiStrToLower(text);
  return safe &&
         std::find(kSpecial.begin(), kSpecial.end(), lower) == kSpecial.end();
}

// A string of JSON is a double-quoted scalar of YAML.
std::string Scalar(const ordered_json& value) {
  if (value.is_string() && IsPlain(value.get_ref<const std::string&>())) {
    return value.get<std::string>();
  }
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string Key(const std::string& key) {
  return IsPlain(key) ? key : ordered_json(key).dump();
}

bool IsNested(const ordered_json& value) {
  return value.is_structured() && !value.empty();
}

void Append(const ordered_json& value, size_t indent, std::string& text);

// Behind "key:" or "-".
void AppendValue(const ordered_json& value, size_t indent, std::string& text) {
  if (IsNested(value)) {
    text += '\n';
    Append(value, indent, text);
  } else {
    text += ' ' + Scalar(value) + '\n';
  }
}

void Append(const ordered_json& value, size_t indent, std::string& text) {
  const std::string pad(indent, ' ');
  if (value.is_object()) {
    for (const auto& [key, field] : value.items()) {
      text += pad + Key(key) + ':';
      AppendValue(field, indent + 2, text);
    }
  } else {
    for (const ordered_json& item : value) {
      if (!item.is_object() || item.empty()) {
        text += pad + '-';
        AppendValue(item, indent + 2, text);
        continue;
      }
      std::string fields;
      Append(item, indent + 2, fields);
      // The first field stands behind the dash.
      fields.replace(indent, 2, "- ");
      text += fields;
    }
  }
}

}  // namespace

std::string YamlText(const std::string& json) {
  const ordered_json value = ordered_json::parse(json, nullptr, false);
  if (value.is_discarded()) return json;
  if (!IsNested(value)) return Scalar(value) + "\n";
  std::string text;
  Append(value, 0, text);
  return text;
}

YamlStream::YamlStream(std::ostream& out)
    : std::ostream(nullptr), buffer_(out) {
  rdbuf(&buffer_);
}

YamlStream::Buffer::int_type YamlStream::Buffer::overflow(int_type c) {
  if (!traits_type::eq_int_type(c, traits_type::eof())) {
    Take(traits_type::to_char_type(c));
  }
  return traits_type::not_eof(c);
}

int YamlStream::Buffer::sync() { return out_.flush() ? 0 : -1; }

void YamlStream::Buffer::Take(char c) {
  // Between two objects stand line ends only.
  if (depth_ == 0 && c != '{') return;
  json_ += c;
  if (in_string_) {
    in_string_ = escaped_ || c != '"';
    escaped_ = !escaped_ && c == '\\';
    return;
  }
  in_string_ = c == '"';
  if (c == '{') ++depth_;
  if (c == '}') --depth_;
  if (depth_ > 0) return;
  if (begun_) out_ << "---\n";
  begun_ = true;
  out_ << YamlText(json_);
  json_.clear();
}

}  // namespace skerry::cli
