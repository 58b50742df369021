#include "cli/yaml_fields.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cli/did_you_mean.h"
#include "cli/enum_words.h"
#include "cli/home_path.h"
#include "cli/number_text.h"
#include "cli/plain_json.h"
#include "cli/read_file.h"
#include "cli/yaml_syntax.h"
#include "nlohmann/json.hpp"

namespace skerry::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using nlohmann::json;

constexpr size_t kTextBytesMax = 1 << 20;
constexpr size_t kValuesMax = 100'000;
constexpr int kDepthMax = 64;
constexpr size_t kProblemsMax = 50;

Place PlaceOf(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1};
}

// The byte at a place; 0 outside the text.
char CharAt(const std::string& text, Place place) {
  size_t begin = 0;
  for (int line = 1; line < place.first; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return 0;
    ++begin;
  }
  const size_t at = begin + static_cast<size_t>(place.second - 1);
  return at < text.size() ? text[at] : 0;
}

class Converter {
 public:
  // `text` is what the nodes were read from.
  Converter(const std::string& file_name, const std::string& text,
            const std::vector<ExtraField>& extras)
      : file_name_(file_name),
        text_(text),
        extras_(extras),
        places_(file_name) {}

  json Message(const YAML::Node& node, const Descriptor& type,
               const std::string& path, int depth);
  FieldPlaces TakePlaces() { return std::move(places_); }
  std::vector<PlacedProblem> TakeProblems() { return std::move(problems_); }
  void Report(const YAML::Mark& mark, const std::string& path,
              const std::string& what);

 private:
  bool Admit(const YAML::Node& node, const std::string& path, int depth);
  void Entry(const YAML::Node& key, const YAML::Node& value,
             const Descriptor& type, const std::string& path, int depth,
             json* object);
  json Field(const YAML::Node& node, const FieldDescriptor& field,
             const std::string& path, int depth);
  json Value(const YAML::Node& node, const FieldDescriptor& field,
             const std::string& path, int depth);
  json Scalar(const YAML::Node& node, const FieldDescriptor& field,
              const std::string& path);
  json Number(const YAML::Node& node, const FieldDescriptor& field,
              const std::string& path);
  void NoValue(const YAML::Node& key, const YAML::Node& value,
               const std::string& path);
  json Enum(const YAML::Node& node, const EnumDescriptor& type,
            const std::string& path);
  const ExtraField* FindExtra(std::string_view parent,
                              std::string_view key) const;
  const ExtraField* ExtraThatSets(std::string_view parent,
                                  std::string_view target) const;
  void Extra(const ExtraField& extra, const YAML::Node& value,
             const std::string& path, int depth, json* object);
  void Include(const YAML::Node& value, const std::string& path,
               const std::string& target, json* object);
  json AnyValue(const YAML::Node& node, const std::string& path, int depth);
  json AnyMapping(const YAML::Node& node, const std::string& path, int depth);
  void UnknownField(const YAML::Node& key, const Descriptor& type,
                    const std::string& path);

  const std::string& file_name_;
  const std::string& text_;
  const std::vector<ExtraField>& extras_;
  FieldPlaces places_;
  std::vector<PlacedProblem> problems_;
  size_t values_ = 0;
};

void Converter::Report(const YAML::Mark& mark, const std::string& path,
                       const std::string& what) {
  if (problems_.size() >= kProblemsMax) return;
  std::string where = file_name_;
  if (!mark.is_null()) {
    absl::StrAppend(&where, ":", mark.line + 1, ":", mark.column + 1);
  }
  problems_.push_back(
      {PlaceOf(mark), path,
       absl::StrCat(where, ": ", path, path.empty() ? "" : ": ", what)});
}

bool Converter::Admit(const YAML::Node& node, const std::string& path,
                      int depth) {
  ++values_;
  if (values_ == kValuesMax + 1) {
    Report(node.Mark(), path,
           absl::StrCat("more than ", kValuesMax, " values in the file"));
  } else if (depth > kDepthMax) {
    Report(node.Mark(), path,
           absl::StrCat("nested more than ", kDepthMax, " levels deep"));
  }
  return values_ <= kValuesMax && depth <= kDepthMax;
}

json Converter::Message(const YAML::Node& node, const Descriptor& type,
                        const std::string& path, int depth) {
  json object = json::object();
  if (!Admit(node, path, depth)) return object;
  if (!node.IsMap()) {
    Report(node.Mark(), path, "has to be a mapping of fields");
    return object;
  }
  std::set<std::string> seen;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) {
      Report(entry.first.Mark(), path, "field names have to be plain words");
      continue;
    }
    if (!seen.insert(entry.first.Scalar()).second) {
      Report(entry.first.Mark(), path,
             absl::StrCat("field ", entry.first.Scalar(), " is given twice"));
      continue;
    }
    Entry(entry.first, entry.second, type, path, depth, &object);
  }
  return object;
}

void Converter::Entry(const YAML::Node& key, const YAML::Node& value,
                      const Descriptor& type, const std::string& path,
                      int depth, json* object) {
  const std::string name = key.Scalar();
  const std::string field_path =
      path.empty() ? name : absl::StrCat(path, ".", name);
  const bool has_own = value.IsDefined() && value.IsScalar();
  const Place place = PlaceOf(has_own ? value.Mark() : key.Mark());
  places_.Add(field_path, place);
  if (const ExtraField* extra = FindExtra(path, name)) {
    // What is wrong with the text is found in the field that it becomes.
    places_.Add(absl::StrCat(path, ".", extra->target), place);
    if (!value.IsDefined() || value.IsNull()) {
      NoValue(key, value, field_path);
      return;
    }
    Extra(*extra, value, field_path, depth + 1, object);
    return;
  }
  const FieldDescriptor* field = type.FindFieldByName(name);
  if (field == nullptr) {
    UnknownField(key, type, path);
    return;
  }
  const ExtraField* setter = ExtraThatSets(path, name);
  if (setter != nullptr && object->contains(name)) {
    Report(key.Mark(), field_path,
           absl::StrCat("given twice: ", setter->key, " sets it too"));
    return;
  }
  if (!value.IsDefined() || value.IsNull()) {
    NoValue(key, value, field_path);
    return;
  }
  (*object)[name] = Field(value, *field, field_path, depth + 1);
}

const ExtraField* Converter::FindExtra(std::string_view parent,
                                       std::string_view key) const {
  for (const ExtraField& extra : extras_) {
    if (extra.parent == parent && extra.key == key) return &extra;
  }
  return nullptr;
}

const ExtraField* Converter::ExtraThatSets(std::string_view parent,
                                           std::string_view target) const {
  for (const ExtraField& extra : extras_) {
    if (extra.parent == parent && extra.target == target) return &extra;
  }
  return nullptr;
}

void Converter::UnknownField(const YAML::Node& key, const Descriptor& type,
                             const std::string& path) {
  std::vector<std::string> known;
  for (int i = 0; i < type.field_count(); ++i) {
    known.push_back(type.field(i)->name());
  }
  for (const ExtraField& extra : extras_) {
    if (extra.parent == path) known.push_back(extra.key);
  }
  Report(key.Mark(), path,
         absl::StrCat("there is no field ", key.Scalar(),
                      DidYouMean(key.Scalar(), known)));
}

void Converter::Extra(const ExtraField& extra, const YAML::Node& value,
                      const std::string& path, int depth, json* object) {
  const bool is_file = extra.kind == ExtraField::Kind::kFile;
  if (is_file ? !value.IsScalar() : !value.IsMap()) {
    Report(value.Mark(), path,
           is_file ? "has to be the path of a file" : "has to be a mapping");
    return;
  }
  if (object->contains(extra.target)) {
    Report(value.Mark(), path,
           absl::StrCat("given twice: ", extra.target, " sets it too"));
    return;
  }
  if (is_file) {
    Include(value, path, extra.target, object);
    return;
  }
  (*object)[extra.target] =
      AnyMapping(value, path, depth)
          .dump(-1, ' ', false, json::error_handler_t::replace);
}

void Converter::Include(const YAML::Node& value, const std::string& path,
                        const std::string& target, json* object) {
  const absl::StatusOr<std::string> name = HomePath(value.Scalar());
  if (!name.ok()) {
    Report(value.Mark(), path, std::string(name.status().message()));
    return;
  }
  const std::string included =
      (std::filesystem::path(file_name_).parent_path() / *name).string();
  absl::StatusOr<std::string> text = ReadFile(included, kTextBytesMax);
  if (!text.ok()) {
    Report(value.Mark(), path, std::string(text.status().message()));
    return;
  }
  (*object)[target] = *std::move(text);
}

json Converter::AnyMapping(const YAML::Node& node, const std::string& path,
                           int depth) {
  json object = json::object();
  if (!Admit(node, path, depth)) return object;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) {
      Report(entry.first.Mark(), path, "names have to be plain words");
      continue;
    }
    const std::string& name = entry.first.Scalar();
    if (object.contains(name)) {
      Report(entry.first.Mark(), path, absl::StrCat(name, " is given twice"));
      continue;
    }
    object[name] =
        AnyValue(entry.second, absl::StrCat(path, ".", name), depth + 1);
  }
  return object;
}

json Converter::AnyValue(const YAML::Node& node, const std::string& path,
                         int depth) {
  if (node.IsMap()) return AnyMapping(node, path, depth);
  if (!Admit(node, path, depth)) return nullptr;
  if (node.IsSequence()) {
    json list = json::array();
    for (const YAML::Node& item : node) {
      list.push_back(
          AnyValue(item, absl::StrCat(path, "[", list.size(), "]"), depth + 1));
    }
    return list;
  }
  if (!node.IsScalar()) return nullptr;
  absl::StatusOr<json> value = PlainJson(node.Scalar(), node.Tag());
  if (value.ok()) return *std::move(value);
  Report(node.Mark(), path, std::string(value.status().message()));
  return nullptr;
}

json Converter::Field(const YAML::Node& node, const FieldDescriptor& field,
                      const std::string& path, int depth) {
  if (!field.is_repeated()) return Value(node, field, path, depth);
  json list = json::array();
  if (!node.IsSequence()) {
    Report(node.Mark(), path, "has to be a list");
    return list;
  }
  size_t index = 0;
  for (const YAML::Node& item : node) {
    list.push_back(
        Value(item, field, absl::StrCat(path, "[", index++, "]"), depth + 1));
  }
  return list;
}

json Converter::Value(const YAML::Node& node, const FieldDescriptor& field,
                      const std::string& path, int depth) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return Message(node, *field.message_type(), path, depth);
  }
  if (!Admit(node, path, depth)) return nullptr;
  if (!node.IsScalar()) {
    Report(node.Mark(), path, "has to be a single value");
    return nullptr;
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    return Enum(node, *field.enum_type(), path);
  }
  return Scalar(node, field, path);
}

// The largest number of the field's type, and whether it takes negative ones.
struct Range {
  uint64_t max;
  bool negative;
};

std::optional<Range> RangeOf(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return Range{std::numeric_limits<uint32_t>::max(), false};
    case FieldDescriptor::CPPTYPE_INT32:
      return Range{std::numeric_limits<int32_t>::max(), true};
    case FieldDescriptor::CPPTYPE_UINT64:
      return Range{std::numeric_limits<uint64_t>::max(), false};
    default:
      return std::nullopt;
  }
}

json Converter::Number(const YAML::Node& node, const FieldDescriptor& field,
                       const std::string& path) {
  const std::string& text = node.Scalar();
  const std::optional<Range> range = RangeOf(field);
  if (!range.has_value()) {
    double value;
    const std::string plain = WithoutUnderscores(text);
    if (absl::SimpleAtod(plain, &value) && std::isfinite(value)) return value;
    Report(node.Mark(), path, absl::StrCat("has to be a number, not ", text));
    return nullptr;
  }
  const std::string wanted =
      absl::StrCat("has to be a whole number", range->negative ? "" : " >= 0");
  const absl::StatusOr<std::string> whole = WholeNumberText(text);
  if (!whole.ok()) {
    Report(node.Mark(), path,
           absl::StrCat(wanted, ", not ", text, whole.status().message()));
    return nullptr;
  }
  const bool minus = whole->starts_with('-');
  uint64_t size;
  const bool fits =
      absl::SimpleAtoi(minus ? whole->substr(1) : *whole, &size) &&
      size <= range->max;
  if (fits && (!minus || range->negative)) return *whole;
  Report(node.Mark(), path,
         minus && !range->negative
             ? absl::StrCat(wanted, ", not ", text)
             : absl::StrCat("has to be ", minus ? "at least -" : "at most ",
                            range->max, ", not ", text));
  return nullptr;
}

// YAML reads ~ as nothing; who writes a path means a home folder by it.
void Converter::NoValue(const YAML::Node& key, const YAML::Node& value,
                        const std::string& path) {
  const bool tilde = value.IsDefined() && !value.Mark().is_null() &&
                     CharAt(text_, PlaceOf(value.Mark())) == '~';
  Report(tilde ? value.Mark() : key.Mark(), path,
         tilde ? "has no value: ~ alone means nothing in YAML; write the home "
                 "folder as ~/, or leave the line out"
               : "has no value");
}

json Converter::Scalar(const YAML::Node& node, const FieldDescriptor& field,
                       const std::string& path) {
  const std::string& text = node.Scalar();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) return text;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    if (text == "true" || text == "false") return text == "true";
    Report(node.Mark(), path,
           absl::StrCat("has to be true or false, not ", text));
    return nullptr;
  }
  return Number(node, field, path);
}

json Converter::Enum(const YAML::Node& node, const EnumDescriptor& type,
                     const std::string& path) {
  const auto* value = FindEnumWord(type, node.Scalar());
  if (value != nullptr) return value->name();
  const std::vector<std::string> known = EnumWords(type);
  Report(node.Mark(), path,
         absl::StrCat("has to be one of ", absl::StrJoin(known, ", "), ", not ",
                      node.Scalar(),
                      DidYouMean(absl::AsciiStrToLower(node.Scalar()), known)));
  return nullptr;
}

absl::Status NoYaml(const std::string& file_name, const YamlProblem& problem) {
  return absl::InvalidArgumentError(absl::StrCat(
      file_name, ":", problem.line, ":", problem.column, ": ", problem.what));
}

}  // namespace

absl::StatusOr<YamlReading> ReadYaml(const std::string& file_name,
                                     const std::string& text,
                                     const Descriptor& type,
                                     const std::vector<ExtraField>& extras) {
  if (text.size() > kTextBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ": more than ", kTextBytesMax, " bytes"));
  }
  // The parser takes such a byte for the end of a word.
  if (text.find('\0') != std::string::npos) {
    return NoYaml(file_name, ExplainYaml(text, 1, 1, "this is no text file"));
  }
  Converter converter(file_name, text, extras);
  json object;
  // yaml-cpp speaks in exceptions; they end here.
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(file_name, ": has to hold one YAML document, not ",
                       documents.size()));
    }
    object = converter.Message(documents[0], type, "", 0);
  } catch (const YAML::Exception& error) {
    return NoYaml(file_name, ExplainYaml(text, error.mark.line + 1,
                                         error.mark.column + 1, error.msg));
  }
  // A byte that is no UTF-8 is replaced here and refused by the message.
  return YamlReading{
      object.dump(-1, ' ', false, json::error_handler_t::replace),
      converter.TakePlaces(), converter.TakeProblems()};
}

absl::StatusOr<std::string> YamlToJson(const std::string& file_name,
                                       const std::string& text,
                                       const Descriptor& type) {
  SKERRY_ASSIGN_OR_RETURN(YamlReading reading,
                          ReadYaml(file_name, text, type, {}));
  if (reading.problems.empty()) return std::move(reading.json);
  return absl::InvalidArgumentError(InFileOrder(std::move(reading.problems)));
}

}  // namespace skerry::cli
