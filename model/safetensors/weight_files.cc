#include "model/safetensors/weight_files.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/file_name.h"
#include "base/status.h"
#include "model/safetensors/strict_json.h"
#include "model/safetensors/weight_names.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHead = "lm_head.weight";
constexpr size_t kIndexBytesMax = size_t{16} << 20;
constexpr int kIndexDepthMax = 4;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("weights: ", what));
}

std::string Shape(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", shape[i]);
  }
  return text + "]";
}

// A tensor of integers or truth values under a name that the model does not
// know is no weight.
bool CannotBeWeight(const TensorEntry& tensor) {
  const std::string_view type = tensor.foreign_dtype;
  return type == "BOOL" || type.starts_with('I') || type.starts_with('U');
}

absl::Status RefuseUnknown(absl::string_view name) {
  for (const absl::string_view part : {".lora_", ".base_layer."}) {
    if (name.find(part) == name.npos) continue;
    return Bad(absl::StrCat(name,
                            " is of a LoRA adapter; merge it into its model "
                            "(merge_and_unload) and save that"));
  }
  return Bad(absl::StrCat(name,
                          " is not in the model; remove it from the file if "
                          "the model computes without it"));
}

absl::Status RefuseMissing(absl::string_view name) {
  return Bad(absl::StrCat(
      name, " is missing",
      name == absl::string_view(kHead.data(), kHead.size())
          ? "; set tie_word_embeddings to true in config.json if the model "
            "has its embedding as head, or save the whole model"
          : "; save the whole model"));
}

// Collects the tensors of one model from its files.
class Reader {
 public:
  Reader(const ParameterLayout& layout, std::span<float> flat)
      : layout_(layout), flat_(flat), names_(layout.tensors().size()) {}

  // Reads tensor `index` from where it was found. Errors: InvalidArgument when
  // it cannot be, or has other values than were found under another name.
  absl::Status Take(int index, const SafetensorsView& file,
                    const TensorEntry& found) {
    const ParameterTensor& wanted = layout_.tensor(index);
    if (!found.is_readable()) {
      return Bad(absl::StrCat(found.name, " has the dtype ",
                              found.foreign_dtype,
                              "; Skerry reads weights of F32, BF16, F16 and "
                              "F64: save the model in one of them"));
    }
    if (found.shape != wanted.shape) {
      return Bad(absl::StrCat(found.name, " has the shape ", Shape(found.shape),
                              ", the model's is ", Shape(wanted.shape),
                              "; use the config.json that belongs to these "
                              "weights"));
    }
    const std::span<float> own = layout_.Slice(flat_, index);
    std::string& name = names_[static_cast<size_t>(index)];
    if (name.empty()) {
      file.Read(found, own);
      name = found.name;
      return absl::OkStatus();
    }
    std::vector<float> again(own.size());
    file.Read(found, again);
    if (std::memcmp(again.data(), own.data(), own.size_bytes()) == 0) {
      return absl::OkStatus();
    }
    return Bad(absl::StrCat(found.name, " has other values than ",
                            name == found.name ? "in another file" : name,
                            "; both are the same tensor, remove one of them"));
  }

  bool Has(int index) const {
    return !names_[static_cast<size_t>(index)].empty();
  }

 private:
  const ParameterLayout& layout_;
  const std::span<float> flat_;
  // Under which name each tensor was found; empty while it was not.
  std::vector<std::string> names_;
};

// A head that stands beside the table it is tied to, or in place of it.
absl::Status TakeHead(int table, const SafetensorsView& file,
                      const TensorEntry& head, Reader& reader) {
  if (!reader.Has(table)) return reader.Take(table, file, head);
  if (reader.Take(table, file, head).ok()) return absl::OkStatus();
  return Bad(absl::StrCat(head.name,
                          " differs from the embedding that config.json ties "
                          "it to; set tie_word_embeddings to false"));
}

}  // namespace

std::vector<WeightFile> PlanWeightFiles(const ParameterLayout& layout,
                                        const TensorDtypes& dtypes,
                                        uint64_t bytes_max) {
  std::vector<WeightFile> files;
  uint64_t bytes = 0;
  for (size_t i = 0; i < layout.tensors().size(); ++i) {
    const uint64_t more = static_cast<uint64_t>(layout.tensors()[i].elements) *
                          ElementBytes(dtypes.of(static_cast<int>(i)));
    if (files.empty() || bytes + more > bytes_max) {
      files.emplace_back();
      bytes = 0;
    }
    bytes += more;
    files.back().tensors.push_back(static_cast<int>(i));
  }
  for (size_t i = 0; i < files.size(); ++i) {
    files[i].name = files.size() == 1
                        ? std::string(kSingleWeightFile)
                        : absl::StrFormat("model-%05d-of-%05d.safetensors",
                                          i + 1, files.size());
  }
  return files;
}

absl::StatusOr<std::vector<std::byte>> EncodeWeightFile(
    const ParameterLayout& layout, const WeightFile& file,
    const TensorDtypes& dtypes, std::span<const float> flat) {
  SKERRY_CHECK(static_cast<int64_t>(flat.size()) == layout.element_count());
  std::vector<TensorEntry> entries;
  for (const int index : file.tensors) {
    const ParameterTensor& tensor = layout.tensor(index);
    entries.push_back({.name = tensor.name,
                       .dtype = dtypes.of(index),
                       .shape = tensor.shape});
  }
  // transformers loads no file that does not say so.
  SKERRY_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                          SafetensorsHeader(entries, {{"format", "pt"}}));
  const size_t begin = bytes.size();
  bytes.resize(begin + (entries.empty() ? 0 : entries.back().end));
  const std::span<std::byte> values = std::span(bytes).subspan(begin);
  for (size_t i = 0; i < entries.size(); ++i) {
    EncodeElements(
        layout.Slice(flat, file.tensors[i]), entries[i].dtype,
        values.subspan(entries[i].begin, entries[i].end - entries[i].begin));
  }
  return bytes;
}

std::string WeightIndex(const ParameterLayout& layout,
                        std::span<const WeightFile> files,
                        const TensorDtypes& dtypes) {
  uint64_t total = 0;
  for (size_t i = 0; i < layout.tensors().size(); ++i) {
    total += static_cast<uint64_t>(layout.tensors()[i].elements) *
             ElementBytes(dtypes.of(static_cast<int>(i)));
  }
  Json json;
  json["metadata"]["total_size"] = total;
  Json& map = json["weight_map"] = Json::object();
  for (const WeightFile& file : files) {
    for (const int index : file.tensors) {
      map[layout.tensor(index).name] = file.name;
    }
  }
  return json.dump(2) + "\n";
}

absl::StatusOr<absl::btree_map<std::string, std::string>> ParseWeightIndex(
    std::string_view text) {
  if (text.size() > kIndexBytesMax) return Bad("the index is too large");
  absl::StatusOr<Json> json = ParseStrictJson(text, kIndexDepthMax);
  if (!json.ok()) return Bad(absl::StrCat("index: ", json.status().message()));
  const auto map = json->find("weight_map");
  if (map == json->end() || !map->is_object()) {
    return Bad("index: has no weight_map");
  }
  absl::btree_map<std::string, std::string> files;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string() || !IsPlainFileName(file.get<std::string>())) {
      return Bad(absl::StrCat("index: ", tensor,
                              " must name a file beside the index"));
    }
    files[tensor] = file.get<std::string>();
  }
  return files;
}

absl::Status ReadWeights(const ParameterLayout& layout,
                         std::span<const SafetensorsView> files,
                         std::span<float> flat) {
  SKERRY_CHECK(static_cast<int64_t>(flat.size()) == layout.element_count());
  Reader reader(layout, flat);
  for (const SafetensorsView& file : files) {
    for (const TensorEntry& found : file.tensors()) {
      const NameMeaning meaning = MeaningOf(layout, found.name);
      if (meaning.kind == NameKind::kTensor) {
        SKERRY_RETURN_IF_ERROR(reader.Take(meaning.tensor, file, found));
      } else if (meaning.kind == NameKind::kUnknown && !CannotBeWeight(found)) {
        return RefuseUnknown(found.name);
      }
    }
  }
  for (const SafetensorsView& file : files) {
    for (const TensorEntry& found : file.tensors()) {
      const NameMeaning meaning = MeaningOf(layout, found.name);
      if (meaning.kind != NameKind::kTiedHead) continue;
      SKERRY_RETURN_IF_ERROR(TakeHead(meaning.tensor, file, found, reader));
    }
  }
  for (size_t i = 0; i < layout.tensors().size(); ++i) {
    if (reader.Has(static_cast<int>(i))) continue;
    return RefuseMissing(layout.tensors()[i].name);
  }
  return absl::OkStatus();
}

}  // namespace skerry::model
