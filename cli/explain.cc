#include "cli/explain.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/status.h"
#include "cli/did_you_mean.h"
#include "cli/enum_words.h"
#include "cli/table.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "nlohmann/json.hpp"

namespace skerry::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptorSet;
using google::protobuf::SourceLocation;

// A serialized FileDescriptorSet with its comments, made by protoc.
constexpr unsigned char kSchema[] = {
#include "cli/job_schema.inc"
};

// A field of a job file that is none of the message (job_file.h).
struct ExtraHelp {
  // It is listed after the field of the message that it fills.
  const char* fills;
  const char* path;
  const char* type;
  const char* about;
};

constexpr ExtraHelp kExtras[] = {
    {"model.config_json", "model.config_file", "text",
     "Path of a config.json, from the job file's folder; its text becomes "
     "config_json."},
    {"model.program.parameters_json", "model.program.parameters", "mapping",
     "What the program reads: names with numbers, texts, true, false, lists "
     "and mappings as values. Its JSON becomes parameters_json. A word that "
     "looks like a number is text in quotes."},
};

const Descriptor& JobType() {
  static const Descriptor* const type = [] {
    FileDescriptorSet files;
    SKERRY_CHECK(files.ParseFromArray(kSchema, sizeof(kSchema)));
    auto* pool = new DescriptorPool();
    for (const auto& file : files.file()) {
      SKERRY_CHECK(pool->BuildFile(file) != nullptr);
    }
    const Descriptor* found = pool->FindMessageTypeByName("skerry.v1.JobSpec");
    SKERRY_CHECK(found != nullptr);
    return found;
  }();
  return *type;
}

// The comment in front, as one paragraph; empty when there is none.
template <typename T>
std::string CommentOf(const T& described) {
  SourceLocation location;
  if (!described.GetSourceLocation(&location)) return "";
  std::vector<std::string> words = absl::StrSplit(
      location.leading_comments, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return absl::StrJoin(words, " ");
}

// A comment also speaks of the values after it that have none.
std::string AboutOf(const FieldDescriptor& field) {
  if (field.message_type() != nullptr) {
    const std::string own = CommentOf(field);
    return own.empty() ? CommentOf(*field.message_type()) : own;
  }
  for (int i = field.index(); i >= 0; --i) {
    const FieldDescriptor& earlier = *field.containing_type()->field(i);
    const std::string comment = CommentOf(earlier);
    if (comment.empty()) continue;
    return i == field.index()
               ? comment
               : absl::StrCat("See ", earlier.name(), ": ", comment);
  }
  return CommentOf(*field.containing_type());
}

std::string ValueType(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      return "whole number";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "number";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "fields";
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrCat("one of ",
                          absl::StrJoin(EnumWords(*field.enum_type()), ", "));
    default:
      return "text";
  }
}

std::string TypeOf(const FieldDescriptor& field) {
  const std::string value = ValueType(field);
  return field.is_repeated() ? absl::StrCat("list of ", value) : value;
}

std::string Joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : absl::StrCat(path, ".", name);
}

void AddFields(const Descriptor& type, FieldHelp& help) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    help.fields.push_back(
        {Joined(help.path, field.name()), TypeOf(field), AboutOf(field), {}});
    for (const ExtraHelp& extra : kExtras) {
      if (Joined(help.path, field.name()) == extra.fills) {
        help.fields.push_back({extra.path, extra.type, extra.about, {}});
      }
    }
  }
}

std::string FirstSentence(const std::string& text) {
  const size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

std::string LastName(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

nlohmann::ordered_json ToJson(const FieldHelp& help) {
  nlohmann::ordered_json json = {
      {"field", help.path}, {"type", help.type}, {"about", help.about}};
  if (help.fields.empty()) return json;
  json["fields"] = nlohmann::ordered_json::array();
  for (const FieldHelp& field : help.fields) {
    json["fields"].push_back(ToJson(field));
  }
  return json;
}

void CollectPaths(const std::string& path, std::vector<std::string>& paths) {
  const absl::StatusOr<FieldHelp> help = FindFieldHelp(path);
  if (!help.ok()) return;
  for (const FieldHelp& field : help->fields) {
    paths.push_back(field.path);
    if (field.type == "fields") CollectPaths(field.path, paths);
  }
}

}  // namespace

absl::StatusOr<FieldHelp> FindFieldHelp(const std::string& path) {
  FieldHelp help;
  help.type = "fields";
  help.about = CommentOf(JobType());
  AddFields(JobType(), help);
  const Descriptor* type = &JobType();
  const std::vector<std::string> names =
      absl::StrSplit(path, '.', absl::SkipEmpty());
  for (const std::string& name : names) {
    std::vector<std::string> known;
    const FieldHelp* found = nullptr;
    for (const FieldHelp& field : help.fields) {
      known.push_back(LastName(field.path));
      if (known.back() == name) found = &field;
    }
    if (found == nullptr) {
      return absl::NotFoundError(
          absl::StrCat(help.path.empty() ? "a job file" : help.path,
                       " has no field ", name, DidYouMean(name, known)));
    }
    FieldHelp next = *found;
    const FieldDescriptor* field =
        type == nullptr ? nullptr : type->FindFieldByName(name);
    type = field == nullptr ? nullptr : field->message_type();
    help = std::move(next);
    if (type != nullptr) AddFields(*type, help);
  }
  return help;
}

std::vector<std::string> AllFieldPaths() {
  std::vector<std::string> paths;
  CollectPaths("", paths);
  return paths;
}

absl::Status ExplainField(const std::string& path, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const FieldHelp help, FindFieldHelp(path));
  if (output.form == OutputForm::kJson) {
    output.out << ToJson(help).dump(1) << "\n";
    return absl::OkStatus();
  }
  output.out << "Field:  " << (help.path.empty() ? "a job" : help.path) << "\n"
             << "Type:   " << help.type << "\n";
  if (!help.about.empty()) output.out << "\n" << help.about << "\n";
  if (help.fields.empty()) return absl::OkStatus();
  Table table({{"FIELD"}, {"TYPE"}, {"ABOUT"}});
  for (const FieldHelp& field : help.fields) {
    table.AddRow(
        {LastName(field.path), field.type, FirstSentence(field.about)});
  }
  output.out << "\n" << table.Text();
  return absl::OkStatus();
}

}  // namespace skerry::cli
