#include "checkpoint/tensor_files.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "model/safetensors/weight_files.h"

namespace skerry::checkpoint {

absl::Status ReadTensors(const model::ParameterLayout& layout,
                         std::span<const NamedBytes> files,
                         std::span<float> flat) {
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
  const absl::Status filled = model::ReadWeights(layout, views, flat);
  return filled.ok() ? filled : absl::DataLossError(filled.message());
}

}  // namespace skerry::checkpoint
