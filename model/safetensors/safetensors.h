// model/safetensors/safetensors.h
//
// Reads and writes files of named tensors in the safetensors format, over
// bytes: see docs/formats/safetensors.md. Parse trusts nothing. Files that it
// accepts can be read without further checks.
#ifndef SKERRY_MODEL_SAFETENSORS_SAFETENSORS_H_
#define SKERRY_MODEL_SAFETENSORS_SAFETENSORS_H_

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

namespace skerry::model {

// The JSON header alone; some 100,000 tensors fit.
inline constexpr size_t kSafetensorsHeaderBytesMax = size_t{16} << 20;

struct TensorEntry {
  std::string name;
  Dtype dtype = Dtype::kF32;
  // How the header spells a type that Dtype does not have, such as "BOOL". The
  // values of such a tensor cannot be read, and `dtype` means nothing.
  std::string foreign_dtype = "";
  std::vector<int64_t> shape;  // empty: a scalar
  // Bytes of the tensor's values in the part after the header.
  uint64_t begin = 0;
  uint64_t end = 0;
  bool is_readable() const { return foreign_dtype.empty(); }
  // Requires: is_readable().
  uint64_t elements() const { return (end - begin) / ElementBytes(dtype); }
  friend bool operator==(const TensorEntry&, const TensorEntry&) = default;
};

using SafetensorsMetadata = absl::btree_map<std::string, std::string>;

// The first bytes of a file with these tensors; their values follow, in this
// order, without gaps. Fills in begin and end; a tensor of a foreign type keeps
// its size. Metadata is free text for the reader. Errors: InvalidArgument for
// two tensors of one name, the name
// "__metadata__", text that is not UTF-8, a negative extent, or more than
// kSafetensorsHeaderBytesMax.
absl::StatusOr<std::vector<std::byte>> SafetensorsHeader(
    std::vector<TensorEntry>& tensors, const SafetensorsMetadata& metadata);

// A read-only view of a file that lies in memory, usually mapped. The bytes are
// borrowed and must outlive the view.
class SafetensorsView {
 public:
  // Any bytes may be given. Errors: InvalidArgument with one line that says
  // what is wrong, when they are not exactly one file.
  static absl::StatusOr<SafetensorsView> Parse(
      std::span<const std::byte> bytes);

  // In the order of their bytes.
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  const SafetensorsMetadata& metadata() const { return metadata_; }
  // Null when there is none of that name.
  const TensorEntry* Find(std::string_view name) const;
  // Requires: `tensor` is one of tensors().
  std::span<const std::byte> Bytes(const TensorEntry& tensor) const {
    return values_.subspan(tensor.begin, tensor.end - tensor.begin);
  }
  // Converts to fp32. Requires: tensor.is_readable() and
  // out.size() == tensor.elements().
  void Read(const TensorEntry& tensor, std::span<float> out) const {
    DecodeElements(Bytes(tensor), tensor.dtype, out);
  }

 private:
  SafetensorsView() = default;

  std::span<const std::byte> values_;
  std::vector<TensorEntry> tensors_;
  // Into tensors_.
  absl::btree_map<std::string, size_t> index_;
  SafetensorsMetadata metadata_;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SAFETENSORS_SAFETENSORS_H_
