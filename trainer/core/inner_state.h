// trainer/core/inner_state.h
//
// The format of an inner state: a safetensors file with a label and a JSON
// object in its metadata (docs/formats/inner_state.md).
#ifndef SKERRY_TRAINER_CORE_INNER_STATE_H_
#define SKERRY_TRAINER_CORE_INNER_STATE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/safetensors/safetensors.h"
#include "trainer/core/inner_file.h"

namespace skerry::trainer {

// The JSON object alone.
inline constexpr size_t kInnerJsonBytesMax = size_t{1} << 20;

// The first bytes of a file; the tensors' values follow in this order. Fills in
// where they lie. Errors: those of model::SafetensorsHeader; InvalidArgument
// for a JSON text that is too long.
absl::StatusOr<std::vector<std::byte>> InnerHeader(
    std::vector<model::TensorEntry>& tensors, const InnerLabel& label,
    const std::string& json);

struct InnerView {
  model::SafetensorsView tensors;
  uint64_t sequence = 0;
  // An object that ParseStrictJson takes.
  std::string json;
};

// Any bytes may be given, and are borrowed. Errors: InvalidArgument with one
// line, when they are no inner state, or one of another layout.
absl::StatusOr<InnerView> ParseInnerState(std::span<const std::byte> bytes,
                                          uint64_t layout_hash);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_INNER_STATE_H_
