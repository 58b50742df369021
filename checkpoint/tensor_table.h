// checkpoint/tensor_table.h
//
// Says which tensors the state of a program's model consists of, and which
// files the program wants beside its weights. A checkpoint of such a job has
// the table as a file, because nobody else knows it without the program. See
// docs/formats/checkpoint.md.
#ifndef SKERRY_CHECKPOINT_TENSOR_TABLE_H_
#define SKERRY_CHECKPOINT_TENSOR_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/safetensors/dtype.h"
#include "model/spec/parameter_layout.h"

namespace skerry::checkpoint {

inline constexpr std::string_view kTensorTableFile = "skerry-tensors.json";
// Bytes of all files beside the weights.
inline constexpr size_t kExportBytesMax = size_t{16} << 20;

struct TableTensor {
  std::string name;
  std::vector<int64_t> shape;  // empty: a single value
  // How the program keeps it, and how an export writes it: F32, BF16 or F16.
  model::Dtype dtype = model::Dtype::kF32;
  // Other names of the same tensor, which exports leave out.
  std::vector<std::string> tied = {};
  // Its values are averaged, and no outer step is applied to them.
  bool average = false;
  friend bool operator==(const TableTensor&, const TableTensor&) = default;
};

struct TensorTable {
  // In the order of the flat state, without gaps but one: the first tensor that
  // is averaged begins at a multiple of model::kAverageAlignment. All after it
  // are averaged, too.
  std::vector<TableTensor> tensors;
  // Names of the files beside the weights, such as config.json.
  std::vector<std::string> export_files = {};
  friend bool operator==(const TensorTable&, const TensorTable&) = default;
};

// Errors: InvalidArgument, naming the entry: there is no tensor, a name is
// there twice or is not 1 to 512 printable ASCII characters, an extent is below
// 1, the model is too large, a type is F64, an averaged tensor is the first or
// comes before another one, or a file's name is not plain or is one that a
// checkpoint has already.
absl::Status ValidateTable(const TensorTable& table);

// Any text may be given. Errors: InvalidArgument when it is no valid table.
absl::StatusOr<TensorTable> ParseTable(std::string_view json);

// Deterministic. Requires: ValidateTable(table) is OK.
std::string SerializeTable(const TensorTable& table);

// Where each tensor lies in the flat state. Requires: ValidateTable is OK.
model::ParameterLayout LayoutOf(const TensorTable& table);
// The first element that is averaged; 0 when none is. Requires: the same.
uint64_t AverageBeginOf(const TensorTable& table);
// The tensors of a layout, in fp32.
TensorTable TableOf(const model::ParameterLayout& layout);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_TENSOR_TABLE_H_
