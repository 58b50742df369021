// model/safetensors/weight_files.h
//
// A model's parameters as the files that transformers loads: one
// model.safetensors, or several with an index. Names and orientation are
// those of the layout, which are Hugging Face's.
#ifndef SKERRY_MODEL_SAFETENSORS_WEIGHT_FILES_H_
#define SKERRY_MODEL_SAFETENSORS_WEIGHT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/safetensors/dtype.h"
#include "model/safetensors/safetensors.h"
#include "model/spec/parameter_layout.h"

namespace skerry::model {

inline constexpr std::string_view kSingleWeightFile = "model.safetensors";
inline constexpr std::string_view kWeightIndexFile =
    "model.safetensors.index.json";

// In which type each tensor of a layout is written: one for all, or one for
// each, in the layout's order.
class TensorDtypes {
 public:
  TensorDtypes(Dtype all) : all_(all) {}
  explicit TensorDtypes(std::vector<Dtype> each) : each_(std::move(each)) {}
  Dtype of(int tensor) const {
    return each_.empty() ? all_ : each_[static_cast<size_t>(tensor)];
  }

 private:
  Dtype all_ = Dtype::kF32;
  std::vector<Dtype> each_;
};

struct WeightFile {
  std::string name;
  std::vector<int> tensors;  // of the layout, rising
};

// Which tensors go into which file, in the layout's order: each file holds at
// most `bytes_max` of values, unless a single tensor is larger. One file is
// called kSingleWeightFile; more are numbered and need a weight index.
std::vector<WeightFile> PlanWeightFiles(const ParameterLayout& layout,
                                        const TensorDtypes& dtypes,
                                        uint64_t bytes_max);

// The whole file. `flat` is the model in the layout's order. Errors:
// InvalidArgument when the header would be too large. Requires: flat has
// layout.element_count() values.
absl::StatusOr<std::vector<std::byte>> EncodeWeightFile(
    const ParameterLayout& layout, const WeightFile& file,
    const TensorDtypes& dtypes, std::span<const float> flat);

// The text of kWeightIndexFile.
std::string WeightIndex(const ParameterLayout& layout,
                        std::span<const WeightFile> files,
                        const TensorDtypes& dtypes);

// Tensor -> name of its file. Any text may be given. Errors: InvalidArgument,
// saying what is wrong; also for a file name that leaves the folder.
absl::StatusOr<absl::btree_map<std::string, std::string>> ParseWeightIndex(
    std::string_view json);

// Fills `flat` from the files of one model. A tensor may be in any of the
// files, under any name that weight_names.h knows. A tied head may stand beside
// the token table or in place of it. A tensor may be there several times with
// the same values. Derived tensors, and unknown ones of integers, are not read.
// Errors: InvalidArgument, naming the tensor and what to do, if it is missing,
// unknown, of another shape, of a type that cannot be read, or there with
// different values. Requires: flat has layout.element_count() values.
absl::Status ReadWeights(const ParameterLayout& layout,
                         std::span<const SafetensorsView> files,
                         std::span<float> flat);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SAFETENSORS_WEIGHT_FILES_H_
