#include "trainer/core/engine_inner.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "model/safetensors/strict_json.h"
#include "nlohmann/json.hpp"
#include "trainer/core/inner_state.h"

namespace skerry::trainer {
namespace {

constexpr char kSteps[] = "steps";
constexpr char kPosition[] = "position";
constexpr int kDepthMax = 2;

// One tensor of a file, and its values in the optimizer.
struct Part {
  model::TensorEntry entry;
  std::span<float> values;
};

std::vector<Part> PartsOf(const model::ParameterLayout& layout,
                          optimizer::InnerOptimizer& optimizer) {
  absl::btree_map<uint64_t, const model::ParameterTensor*> at;
  for (const model::ParameterTensor& tensor : layout.tensors()) {
    at[static_cast<uint64_t>(tensor.offset)] = &tensor;
  }
  std::vector<Part> parts;
  for (const optimizer::StateSlot& slot : optimizer.state()) {
    std::span<float> left = slot.values;
    for (const optimizer::Tensor& tensor : slot.tensors) {
      const model::ParameterTensor& named = *at.at(tensor.range.begin);
      Part& part = parts.emplace_back();
      part.entry.name = std::string(slot.name) + "/" + named.name;
      part.entry.shape = named.shape;
      part.values = left.first(tensor.range.size());
      left = left.subspan(tensor.range.size());
    }
  }
  return parts;
}

absl::StatusOr<uint64_t> Count(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  if (found != json.end() && found->is_number_unsigned()) {
    return found->get<uint64_t>();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the inner state has no whole number as its ", name));
}

}  // namespace

absl::StatusOr<uint64_t> SaveEngineInner(const model::ParameterLayout& layout,
                                         const InnerLabel& label,
                                         uint64_t position,
                                         optimizer::InnerOptimizer& optimizer,
                                         InnerFile& file) {
  std::vector<Part> parts = PartsOf(layout, optimizer);
  std::vector<model::TensorEntry> entries;
  for (Part& part : parts) entries.push_back(std::move(part.entry));
  const nlohmann::json json = {{kSteps, optimizer.steps()},
                               {kPosition, position}};
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> header,
                          InnerHeader(entries, label, json.dump()));
  std::vector<std::span<const std::byte>> pieces = {header};
  uint64_t bytes = header.size();
  for (const Part& part : parts) {
    pieces.push_back(std::as_bytes(part.values));
    bytes += part.values.size_bytes();
  }
  SKERRY_RETURN_IF_ERROR(file.Write(pieces));
  return bytes;
}

absl::StatusOr<InnerProgress> LoadEngineInner(
    const model::ParameterLayout& layout, uint64_t layout_hash, InnerFile& file,
    optimizer::InnerOptimizer& optimizer, uint64_t& position) {
  SKERRY_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, file.Read());
  SKERRY_ASSIGN_OR_RETURN(const InnerView view,
                          ParseInnerState(bytes, layout_hash));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json json,
                          model::ParseStrictJson(view.json, kDepthMax));
  SKERRY_ASSIGN_OR_RETURN(const uint64_t steps, Count(json, kSteps));
  SKERRY_ASSIGN_OR_RETURN(const uint64_t seen, Count(json, kPosition));
  const std::vector<Part> parts = PartsOf(layout, optimizer);
  bool same = parts.size() == view.tensors.tensors().size();
  for (const Part& part : parts) {
    const model::TensorEntry* found = view.tensors.Find(part.entry.name);
    same = same && found != nullptr && found->is_readable() &&
           found->dtype == model::Dtype::kF32 &&
           found->shape == part.entry.shape;
  }
  if (!same) {
    return absl::InvalidArgumentError(
        "the inner state is one of another optimizer: its tensors differ");
  }
  for (const Part& part : parts) {
    view.tensors.Read(*view.tensors.Find(part.entry.name), part.values);
  }
  optimizer.set_steps(steps);
  position = seen;
  return InnerProgress{view.sequence, steps};
}

}  // namespace skerry::trainer
