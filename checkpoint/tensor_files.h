// checkpoint/tensor_files.h
//
// Reads flat model values from safetensors files that are whole in memory.
#ifndef SKERRY_CHECKPOINT_TENSOR_FILES_H_
#define SKERRY_CHECKPOINT_TENSOR_FILES_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/spec/parameter_layout.h"

namespace skerry::checkpoint {

struct NamedBytes {
  std::string name;  // for errors
  std::vector<std::byte> bytes;
};

// Fills `flat` from the files of one model. Errors: DataLoss, naming the file
// or the tensor. Requires: flat has layout.element_count() values.
absl::Status ReadTensors(const model::ParameterLayout& layout,
                         std::span<const NamedBytes> files,
                         std::span<float> flat);

// Reads a layout whose names are a program's own: each tensor is there once,
// under its name in the layout, and no other is.
absl::Status ReadNamedTensors(const model::ParameterLayout& layout,
                              std::span<const NamedBytes> files,
                              std::span<float> flat);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_TENSOR_FILES_H_
