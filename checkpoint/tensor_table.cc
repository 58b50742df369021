#include "checkpoint/tensor_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/json_members.h"
#include "base/status.h"

namespace skerry::checkpoint {
namespace {

using Names = absl::btree_set<std::string>;

constexpr char kFormat[] = "skerry.tensors/1";
// The format of a table with averaged tensors. Releases before it cannot read
// that.
constexpr char kAverageFormat[] = "skerry.tensors/2";
constexpr size_t kBytesMax = size_t{64} << 20;
constexpr size_t kTensorsMax = 200'000;
constexpr size_t kTiedMax = 1000;
constexpr size_t kNameBytesMax = 512;
constexpr size_t kRankMax = 32;
constexpr size_t kFilesMax = 64;
constexpr size_t kFileNameBytesMax = 100;
constexpr int64_t kElementsMax = int64_t{1} << 44;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("tensor table: ", what));
}

bool IsTensorName(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         name != "__metadata__" &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return c >= ' ' && c < 0x7f; });
}

// Blob stores take these names, and no file of a checkpoint has them.
bool IsExportName(std::string_view name) {
  return !name.empty() && name.size() <= kFileNameBytesMax && name[0] != '.' &&
         std::all_of(name.begin(), name.end(),
                     [](char c) {
                       return (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                              c == '-';
                     }) &&
         !name.starts_with("skerry-") && name != "pinned" &&
         !name.ends_with(".tmp") && !name.ends_with(".safetensors") &&
         !name.ends_with(".safetensors.index.json");
}

absl::Status TakeName(const std::string& name, Names& names) {
  if (!IsTensorName(name)) {
    return Bad(absl::StrCat("\"", name,
                            "\" is no name of a tensor: 1 to 512 printable "
                            "ASCII characters"));
  }
  if (!names.insert(name).second) {
    return Bad(absl::StrCat("names ", name, " twice"));
  }
  return absl::OkStatus();
}

// Adds the tensor's elements to `elements`.
absl::Status TakeShape(const TableTensor& tensor, int64_t& elements) {
  if (tensor.shape.size() > kRankMax) {
    return Bad(absl::StrCat(tensor.name, " has more than 32 dimensions"));
  }
  int64_t product = 1;
  for (const int64_t extent : tensor.shape) {
    if (extent < 1) {
      return Bad(absl::StrCat(tensor.name, " has an extent below 1"));
    }
    if (extent > kElementsMax / product) return Bad("the model is too large");
    product *= extent;
  }
  elements += product;
  return elements > kElementsMax ? Bad("the model is too large")
                                 : absl::OkStatus();
}

bool HasAverages(const TensorTable& table) {
  return !table.tensors.empty() && table.tensors.back().average;
}

// Nothing but what is averaged may follow what is.
absl::Status ValidateAverages(const TensorTable& table) {
  if (table.tensors.front().average) {
    return Bad("its first tensor is averaged");
  }
  for (size_t i = 1; i < table.tensors.size(); ++i) {
    if (!table.tensors[i - 1].average || table.tensors[i].average) continue;
    return Bad(absl::StrCat(table.tensors[i].name,
                            " comes after a tensor that is averaged, and is "
                            "not averaged"));
  }
  return absl::OkStatus();
}

absl::Status ValidateFiles(const std::vector<std::string>& files) {
  if (files.size() > kFilesMax) return Bad("names more than 64 files");
  Names names;
  for (const std::string& file : files) {
    if (!IsExportName(file)) {
      return Bad(absl::StrCat("\"", file,
                              "\" is no plain name of a file beside the "
                              "weights, or is one that checkpoints have"));
    }
    if (!names.insert(file).second) {
      return Bad(absl::StrCat("names the file ", file, " twice"));
    }
  }
  return absl::OkStatus();
}

// Nothing when it is no list of at most `most` strings. Empty without the key.
std::optional<std::vector<std::string>> StringsAt(const Json& object,
                                                  const char* key,
                                                  size_t most) {
  std::vector<std::string> strings;
  const Json* list = FindMember(object, key);
  if (list == nullptr) return strings;
  if (!list->is_array() || list->size() > most) return std::nullopt;
  for (const Json& one : *list) {
    if (!one.is_string()) return std::nullopt;
    strings.push_back(one.get<std::string>());
  }
  return strings;
}

absl::StatusOr<TableTensor> ParseTensor(const Json& json, size_t index) {
  const absl::Status wrong = Bad(
      absl::StrCat("tensor ", index, " needs name, shape and a known dtype"));
  const Json* name = FindMember(json, "name");
  const Json* shape = FindMember(json, "shape");
  const Json* dtype = FindMember(json, "dtype");
  auto tied = StringsAt(json, "tied", kTiedMax);
  if (name == nullptr || !name->is_string() || shape == nullptr ||
      !shape->is_array() || shape->size() > kRankMax || dtype == nullptr ||
      !dtype->is_string() || !tied.has_value()) {
    return wrong;
  }
  const auto known = model::DtypeFromName(dtype->get<std::string>());
  const Json* average = FindMember(json, "average");
  if (!known.has_value() || (average != nullptr && !average->is_boolean())) {
    return wrong;
  }
  TableTensor tensor{name->get<std::string>(), {}, *known, *std::move(tied)};
  tensor.average = average != nullptr && average->get<bool>();
  for (const Json& extent : *shape) {
    if (!extent.is_number_unsigned() ||
        extent.get<uint64_t>() > uint64_t{kElementsMax}) {
      return wrong;
    }
    tensor.shape.push_back(extent.get<int64_t>());
  }
  return tensor;
}

}  // namespace

absl::Status ValidateTable(const TensorTable& table) {
  if (table.tensors.empty()) return Bad("has no tensor");
  if (table.tensors.size() > kTensorsMax) {
    return Bad("has more than 200,000 tensors");
  }
  Names names;
  int64_t elements = 0;
  for (const TableTensor& tensor : table.tensors) {
    SKERRY_RETURN_IF_ERROR(TakeName(tensor.name, names));
    if (tensor.tied.size() > kTiedMax) {
      return Bad(absl::StrCat(tensor.name, " has more than 1000 other names"));
    }
    for (const std::string& other : tensor.tied) {
      SKERRY_RETURN_IF_ERROR(TakeName(other, names));
    }
    if (tensor.dtype == model::Dtype::kF64) {
      return Bad(absl::StrCat(tensor.name, " has the dtype F64"));
    }
    SKERRY_RETURN_IF_ERROR(TakeShape(tensor, elements));
  }
  SKERRY_RETURN_IF_ERROR(ValidateAverages(table));
  return ValidateFiles(table.export_files);
}

absl::StatusOr<TensorTable> ParseTable(std::string_view text) {
  if (text.size() > kBytesMax) return Bad("is too large");
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const Json* format = FindMember(json, "format");
  if (format == nullptr || (*format != kFormat && *format != kAverageFormat)) {
    return Bad(absl::StrCat("is no JSON object of the format ", kFormat, " or ",
                            kAverageFormat));
  }
  const Json* tensors = FindMember(json, "tensors");
  auto files = StringsAt(json, "export_files", kFilesMax);
  if (tensors == nullptr || !tensors->is_array() ||
      tensors->size() > kTensorsMax || !files.has_value()) {
    return Bad("needs tensors, and export_files with at most 64 names");
  }
  TensorTable table{{}, *std::move(files)};
  for (size_t i = 0; i < tensors->size(); ++i) {
    SKERRY_ASSIGN_OR_RETURN(TableTensor tensor, ParseTensor((*tensors)[i], i));
    table.tensors.push_back(std::move(tensor));
  }
  SKERRY_RETURN_IF_ERROR(ValidateTable(table));
  if (HasAverages(table) != (*format == kAverageFormat)) {
    return Bad(absl::StrCat("only ", kAverageFormat,
                            " has averaged tensors, and has one at least"));
  }
  return table;
}

std::string SerializeTable(const TensorTable& table) {
  SKERRY_CHECK(ValidateTable(table).ok());
  // One line for each tensor, for people.
  std::string text = absl::StrCat("{\n  \"format\": \"",
                                  HasAverages(table) ? kAverageFormat : kFormat,
                                  "\",\n  \"tensors\": [");
  for (size_t i = 0; i < table.tensors.size(); ++i) {
    const TableTensor& tensor = table.tensors[i];
    Json one = {{"name", tensor.name},
                {"shape", tensor.shape},
                {"dtype", std::string(model::DtypeName(tensor.dtype))}};
    if (!tensor.tied.empty()) one["tied"] = tensor.tied;
    if (tensor.average) one["average"] = true;
    absl::StrAppend(&text, i == 0 ? "" : ",", "\n    ", one.dump());
  }
  absl::StrAppend(&text, "\n  ],\n  \"export_files\": ",
                  Json(table.export_files).dump(), "\n}\n");
  return text;
}

model::ParameterLayout LayoutOf(const TensorTable& table) {
  model::ParameterLayout layout;
  bool averages = false;
  for (const TableTensor& tensor : table.tensors) {
    if (tensor.average && !std::exchange(averages, true)) {
      layout.SkipTo(model::kAverageAlignment);
    }
    layout.Add(tensor.name, tensor.shape, model::Initializer::kZero);
  }
  return layout;
}

uint64_t AverageBeginOf(const TensorTable& table) {
  const model::ParameterLayout layout = LayoutOf(table);
  for (size_t i = 0; i < table.tensors.size(); ++i) {
    if (!table.tensors[i].average) continue;
    return static_cast<uint64_t>(layout.tensors()[i].offset);
  }
  return 0;
}

TensorTable TableOf(const model::ParameterLayout& layout) {
  TensorTable table;
  for (const model::ParameterTensor& tensor : layout.tensors()) {
    table.tensors.push_back({tensor.name, tensor.shape, model::Dtype::kF32});
  }
  return table;
}

}  // namespace skerry::checkpoint
