#include "cli/yaml_fields.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cli/did_you_mean.h"
#include "cli/enum_words.h"
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

class Converter {
 public:
  Converter(const std::string& file_name, const FileField& file_field)
      : file_name_(file_name), file_field_(file_field) {}

  json Message(const YAML::Node& node, const Descriptor& type,
               const std::string& path, int depth);
  absl::Status Problems() const {
    if (problems_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(problems_, "\n"));
  }
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
  std::optional<json> Number(const std::string& text,
                             const FieldDescriptor& field);
  json Enum(const YAML::Node& node, const EnumDescriptor& type,
            const std::string& path);
  void Include(const YAML::Node& value, const std::string& path, json* object);
  void UnknownField(const YAML::Node& key, const Descriptor& type,
                    const std::string& path, bool takes_file);

  const std::string& file_name_;
  const FileField& file_field_;
  std::vector<std::string> problems_;
  size_t values_ = 0;
};

void Converter::Report(const YAML::Mark& mark, const std::string& path,
                       const std::string& what) {
  if (problems_.size() >= kProblemsMax) return;
  std::string place = file_name_;
  if (!mark.is_null()) {
    absl::StrAppend(&place, ":", mark.line + 1, ":", mark.column + 1);
  }
  problems_.push_back(
      absl::StrCat(place, ": ", path, path.empty() ? "" : ": ", what));
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
  const bool takes_file = path == file_field_.parent;
  if (takes_file && name == file_field_.key) {
    Include(value, field_path, object);
    return;
  }
  const FieldDescriptor* field = type.FindFieldByName(name);
  if (field == nullptr) {
    UnknownField(key, type, path, takes_file);
    return;
  }
  if (takes_file && name == file_field_.target && object->contains(name)) {
    Report(key.Mark(), field_path,
           absl::StrCat("given twice: ", file_field_.key, " sets it too"));
    return;
  }
  if (!value.IsDefined() || value.IsNull()) {
    Report(key.Mark(), field_path, "has no value");
    return;
  }
  (*object)[name] = Field(value, *field, field_path, depth + 1);
}

void Converter::UnknownField(const YAML::Node& key, const Descriptor& type,
                             const std::string& path, bool takes_file) {
  std::vector<std::string> known;
  for (int i = 0; i < type.field_count(); ++i) {
    known.push_back(type.field(i)->name());
  }
  if (takes_file) known.push_back(file_field_.key);
  Report(key.Mark(), path,
         absl::StrCat("there is no field ", key.Scalar(),
                      DidYouMean(key.Scalar(), known)));
}

void Converter::Include(const YAML::Node& value, const std::string& path,
                        json* object) {
  if (!value.IsScalar()) {
    Report(value.Mark(), path, "has to be the path of a file");
    return;
  }
  if (object->contains(file_field_.target)) {
    Report(value.Mark(), path,
           absl::StrCat("given twice: ", file_field_.target, " sets it too"));
    return;
  }
  const std::string included =
      (std::filesystem::path(file_name_).parent_path() / value.Scalar())
          .string();
  absl::StatusOr<std::string> text = ReadFile(included, kTextBytesMax);
  if (!text.ok()) {
    Report(value.Mark(), path, std::string(text.status().message()));
    return;
  }
  (*object)[file_field_.target] = *std::move(text);
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

std::optional<json> Converter::Number(const std::string& text,
                                      const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32: {
      uint32_t value;
      if (!absl::SimpleAtoi(text, &value)) return std::nullopt;
      return json(value);
    }
    case FieldDescriptor::CPPTYPE_INT32: {
      int32_t value;
      if (!absl::SimpleAtoi(text, &value)) return std::nullopt;
      return json(value);
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      uint64_t value;
      if (!absl::SimpleAtoi(text, &value)) return std::nullopt;
      return json(absl::StrCat(value));
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double value;
      if (!absl::SimpleAtod(text, &value)) return std::nullopt;
      if (!std::isfinite(value)) return std::nullopt;
      return json(value);
    }
    default:
      return std::nullopt;
  }
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
  std::optional<json> number = Number(text, field);
  if (number.has_value()) return *std::move(number);
  const char* wanted = "a whole number >= 0";
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    wanted = "a whole number";
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    wanted = "a number";
  }
  Report(node.Mark(), path, absl::StrCat("has to be ", wanted, ", not ", text));
  return nullptr;
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

}  // namespace

absl::StatusOr<std::string> YamlToJson(const std::string& file_name,
                                       const std::string& text,
                                       const Descriptor& type,
                                       const FileField& file_field) {
  if (text.size() > kTextBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ": more than ", kTextBytesMax, " bytes"));
  }
  Converter converter(file_name, file_field);
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
    const YamlProblem problem = ExplainYaml(text, error.mark.line + 1,
                                            error.mark.column + 1, error.msg);
    return absl::InvalidArgumentError(absl::StrCat(
        file_name, ":", problem.line, ":", problem.column, ": ", problem.what));
  }
  SKERRY_RETURN_IF_ERROR(converter.Problems());
  // A byte that is no UTF-8 is replaced here and refused by the message.
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace skerry::cli
