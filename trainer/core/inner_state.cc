#include "trainer/core/inner_state.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "model/safetensors/strict_json.h"
#include "nlohmann/json.hpp"

namespace skerry::trainer {
namespace {

// Keys of the metadata, and the version of the format.
constexpr char kVersionKey[] = "skerry.inner";
constexpr char kVersion[] = "1";
constexpr char kLayoutKey[] = "skerry.layout_hash";
constexpr char kSequenceKey[] = "skerry.sequence";
constexpr char kStateKey[] = "skerry.state";
constexpr int kDepthMax = 32;

const std::string* Find(const model::SafetensorsMetadata& metadata,
                        const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? nullptr : &found->second;
}

absl::StatusOr<uint64_t> Number(const model::SafetensorsMetadata& metadata,
                                const char* key) {
  const std::string* text = Find(metadata, key);
  uint64_t value = 0;
  if (text != nullptr && absl::SimpleAtoi(*text, &value)) return value;
  return absl::InvalidArgumentError(
      absl::StrCat("the inner state has no number as its ", key));
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> InnerHeader(
    std::vector<model::TensorEntry>& tensors, const InnerLabel& label,
    const std::string& json) {
  if (json.size() > kInnerJsonBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the inner state beside its tensors has ", json.size(),
                     " bytes; at most ", kInnerJsonBytesMax, " are saved"));
  }
  return model::SafetensorsHeader(
      tensors, {{kVersionKey, kVersion},
                {kLayoutKey, absl::StrCat(label.layout_hash)},
                {kSequenceKey, absl::StrCat(label.sequence)},
                {kStateKey, json}});
}

absl::StatusOr<InnerView> ParseInnerState(std::span<const std::byte> bytes,
                                          uint64_t layout_hash) {
  SKERRY_ASSIGN_OR_RETURN(model::SafetensorsView tensors,
                          model::SafetensorsView::Parse(bytes));
  const model::SafetensorsMetadata& metadata = tensors.metadata();
  const std::string* version = Find(metadata, kVersionKey);
  if (version == nullptr || *version != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file is no inner state of version ", kVersion));
  }
  SKERRY_ASSIGN_OR_RETURN(const uint64_t layout, Number(metadata, kLayoutKey));
  if (layout != layout_hash) {
    return absl::InvalidArgumentError(
        "the inner state is one of another layout: names, shapes or order of "
        "the model's tensors differ");
  }
  SKERRY_ASSIGN_OR_RETURN(const uint64_t sequence,
                          Number(metadata, kSequenceKey));
  const std::string* json = Find(metadata, kStateKey);
  if (json == nullptr || json->size() > kInnerJsonBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the inner state has no text of at most ",
                     kInnerJsonBytesMax, " bytes as its ", kStateKey));
  }
  std::string text = *json;
  SKERRY_RETURN_IF_ERROR(
      Annotate(model::ParseStrictJson(text, kDepthMax).status(), kStateKey));
  return InnerView{std::move(tensors), sequence, std::move(text)};
}

}  // namespace skerry::trainer
