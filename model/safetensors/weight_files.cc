#include "model/safetensors/weight_files.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/status.h"
#include "model/safetensors/strict_json.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

using Json = nlohmann::json;

// What a bare model's names lack: GPT-2's, Llama's.
constexpr std::string_view kPrefixes[] = {"transformer.", "model."};
constexpr std::string_view kHead = "lm_head.weight";
constexpr std::string_view kTokenTables[] = {"transformer.wte.weight",
                                             "model.embed_tokens.weight"};
// Values that follow from the config, which transformers once stored: the
// causal mask and its fill value, the rotary frequencies.
constexpr std::string_view kDerived[] = {".attn.bias", ".attn.masked_bias",
                                         ".rotary_emb.inv_freq"};
constexpr size_t kIndexBytesMax = size_t{16} << 20;
constexpr int kIndexDepthMax = 4;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("weights: ", what));
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c > ' ' && c < 0x7f && c != '/' && c != '\\';
         });
}

std::string Shape(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", shape[i]);
  }
  return text + "]";
}

std::optional<int> FindTensor(const ParameterLayout& layout,
                              const std::string& name) {
  if (const auto index = layout.Find(name)) return index;
  for (const std::string_view prefix : kPrefixes) {
    const auto index = layout.Find(std::string(prefix) + name);
    if (index) return index;
  }
  return std::nullopt;
}

bool IsDerived(std::string_view name) {
  return std::any_of(
      std::begin(kDerived), std::end(kDerived),
      [name](std::string_view end) { return name.ends_with(end); });
}

std::optional<int> FindTokenTable(const ParameterLayout& layout) {
  for (const std::string_view name : kTokenTables) {
    if (const auto index = layout.Find(name)) return index;
  }
  return std::nullopt;
}

// Reads tensor `index` from where it was found.
absl::Status ReadTensor(const ParameterTensor& wanted,
                        const SafetensorsView& file, const TensorEntry& found,
                        std::span<float> out) {
  if (found.shape != wanted.shape) {
    return Bad(absl::StrCat(found.name, " has the shape ", Shape(found.shape),
                            ", the model's is ", Shape(wanted.shape)));
  }
  file.Read(found, out);
  return absl::OkStatus();
}

// A head that is stored beside the table it is tied to.
absl::Status CheckTiedHead(const ParameterLayout& layout,
                           const SafetensorsView& file, const TensorEntry& head,
                           std::span<const float> flat) {
  const auto table = FindTokenTable(layout);
  if (!table) return Bad(absl::StrCat(head.name, " is not in the model"));
  std::vector<float> values(head.elements());
  file.Read(head, values);
  const std::span<const float> tied = layout.Slice(flat, *table);
  if (head.shape == layout.tensor(*table).shape &&
      std::equal(values.begin(), values.end(), tied.begin(), tied.end())) {
    return absl::OkStatus();
  }
  return Bad(absl::StrCat(head.name,
                          " differs from the embedding that config.json ties "
                          "it to; set tie_word_embeddings to false"));
}

}  // namespace

std::vector<WeightFile> PlanWeightFiles(const ParameterLayout& layout,
                                        Dtype dtype, uint64_t bytes_max) {
  std::vector<WeightFile> files;
  uint64_t bytes = 0;
  for (size_t i = 0; i < layout.tensors().size(); ++i) {
    const uint64_t more = static_cast<uint64_t>(layout.tensors()[i].elements) *
                          ElementBytes(dtype);
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
    const ParameterLayout& layout, const WeightFile& file, Dtype dtype,
    std::span<const float> flat) {
  SKERRY_CHECK(static_cast<int64_t>(flat.size()) == layout.element_count());
  std::vector<TensorEntry> entries;
  for (const int index : file.tensors) {
    const ParameterTensor& tensor = layout.tensor(index);
    entries.push_back(
        {.name = tensor.name, .dtype = dtype, .shape = tensor.shape});
  }
  // transformers loads no file that does not say so.
  SKERRY_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                          SafetensorsHeader(entries, {{"format", "pt"}}));
  const size_t begin = bytes.size();
  bytes.resize(begin + (entries.empty() ? 0 : entries.back().end));
  const std::span<std::byte> values = std::span(bytes).subspan(begin);
  for (size_t i = 0; i < entries.size(); ++i) {
    EncodeElements(
        layout.Slice(flat, file.tensors[i]), dtype,
        values.subspan(entries[i].begin, entries[i].end - entries[i].begin));
  }
  return bytes;
}

std::string WeightIndex(const ParameterLayout& layout,
                        std::span<const WeightFile> files, Dtype dtype) {
  Json json;
  json["metadata"]["total_size"] =
      static_cast<uint64_t>(layout.element_count()) * ElementBytes(dtype);
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
    if (!file.is_string() || !IsPlainName(file.get<std::string>())) {
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
  std::vector<bool> have(layout.tensors().size());
  for (const SafetensorsView& file : files) {
    for (const TensorEntry& found : file.tensors()) {
      const auto index = FindTensor(layout, found.name);
      if (!index) {
        if (found.name == kHead || IsDerived(found.name)) continue;
        return Bad(absl::StrCat(found.name, " is not in the model"));
      }
      if (have[*index]) return Bad(absl::StrCat(found.name, " is there twice"));
      have[*index] = true;
      SKERRY_RETURN_IF_ERROR(ReadTensor(layout.tensor(*index), file, found,
                                        layout.Slice(flat, *index)));
    }
  }
  const auto missing = std::find(have.begin(), have.end(), false);
  if (missing != have.end()) {
    const int index = static_cast<int>(missing - have.begin());
    return Bad(absl::StrCat(layout.tensor(index).name, " is missing"));
  }
  if (layout.Find(kHead)) return absl::OkStatus();
  for (const SafetensorsView& file : files) {
    const TensorEntry* head = file.Find(kHead);
    if (head == nullptr) continue;
    SKERRY_RETURN_IF_ERROR(CheckTiedHead(layout, file, *head, flat));
  }
  return absl::OkStatus();
}

}  // namespace skerry::model
