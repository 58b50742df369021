#include "checkpoint/tensor_files.h"

#include <utility>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "model/safetensors/weight_files.h"

namespace skerry::checkpoint {

namespace {

absl::StatusOr<std::vector<model::SafetensorsView>> ViewsOf(
    std::span<const NamedBytes> files) {
  std::vector<model::SafetensorsView> views;
  for (const NamedBytes& file : files) {
    absl::StatusOr<model::SafetensorsView> view =
        model::SafetensorsView::Parse(file.bytes);
    if (!view.ok()) {
      return absl::DataLossError(
          absl::StrCat(file.name, ": ", view.status().message()));
    }
    views.push_back(*std::move(view));
  }
  return views;
}

}  // namespace

absl::Status ReadTensors(const model::ParameterLayout& layout,
                         std::span<const NamedBytes> files,
                         std::span<float> flat) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<model::SafetensorsView> views,
                          ViewsOf(files));
  const absl::Status filled = model::ReadWeights(layout, views, flat);
  return filled.ok() ? filled : absl::DataLossError(filled.message());
}

absl::Status ReadNamedTensors(const model::ParameterLayout& layout,
                              std::span<const NamedBytes> files,
                              std::span<float> flat) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<model::SafetensorsView> views,
                          ViewsOf(files));
  absl::btree_map<std::string, int> wanted;
  for (size_t i = 0; i < layout.tensors().size(); ++i) {
    wanted[layout.tensors()[i].name] = static_cast<int>(i);
  }
  for (size_t i = 0; i < views.size(); ++i) {
    for (const model::TensorEntry& found : views[i].tensors()) {
      const auto index = wanted.find(found.name);
      if (index == wanted.end()) {
        return absl::DataLossError(
            absl::StrCat(files[i].name, ": ", found.name,
                         " is there twice, or not in the model"));
      }
      if (!found.is_readable() ||
          found.shape != layout.tensor(index->second).shape) {
        return absl::DataLossError(
            absl::StrCat(files[i].name, ": ", found.name,
                         " has another type or shape than the model's"));
      }
      views[i].Read(found, layout.Slice(flat, index->second));
      wanted.erase(index);
    }
  }
  if (wanted.empty()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(wanted.begin()->first, " is missing"));
}

}  // namespace skerry::checkpoint
