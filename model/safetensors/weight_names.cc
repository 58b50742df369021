#include "model/safetensors/weight_names.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

namespace skerry::model {
namespace {

constexpr std::string_view kHead = "lm_head.weight";
constexpr std::string_view kTokenTables[] = {"transformer.wte.weight",
                                             "model.embed_tokens.weight"};
// What the names of a bare model lack: GPT-2's, Llama's.
constexpr std::string_view kBarePrefixes[] = {"transformer.", "model."};
// Parts of a name that wrappers insert. No tensor's own name has such a part.
constexpr std::string_view kWrappers[] = {"module", "_orig_mod",
                                          "_fsdp_wrapped_module",
                                          "_checkpoint_wrapped_module"};
constexpr std::string_view kAdapterPrefix = "base_model.model.";
// Lightning and similar loops keep the model in a field of this name.
constexpr std::string_view kFieldPrefix = "model.";
constexpr std::string_view kDerived[] = {"attn.bias",
                                         "attn.masked_bias",
                                         "crossattention.bias",
                                         "crossattention.masked_bias",
                                         "position_ids",
                                         "causal_mask",
                                         "rotary_emb.inv_freq",
                                         "rotary_emb.original_inv_freq",
                                         "rotary_emb.cos_cached",
                                         "rotary_emb.sin_cached"};

std::string WithoutWrappers(std::string_view name) {
  std::string kept;
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, dot);
    if (std::find(std::begin(kWrappers), std::end(kWrappers), part) ==
        std::end(kWrappers)) {
      if (!kept.empty()) kept += '.';
      kept += part;
    }
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  if (kept.starts_with(kAdapterPrefix)) kept.erase(0, kAdapterPrefix.size());
  return kept;
}

bool IsDerived(std::string_view name) {
  return std::any_of(std::begin(kDerived), std::end(kDerived),
                     [name](std::string_view last) {
                       if (!name.ends_with(last)) return false;
                       return name.size() == last.size() ||
                              name[name.size() - last.size() - 1] == '.';
                     });
}

std::optional<int> FindTensor(const ParameterLayout& layout,
                              const std::string& name) {
  if (const auto index = layout.Find(name)) return index;
  for (const std::string_view prefix : kBarePrefixes) {
    const auto index = layout.Find(std::string(prefix) + name);
    if (index) return index;
  }
  return std::nullopt;
}

std::optional<int> FindTokenTable(const ParameterLayout& layout) {
  for (const std::string_view name : kTokenTables) {
    if (const auto index = layout.Find(name)) return index;
  }
  return std::nullopt;
}

}  // namespace

NameMeaning MeaningOf(const ParameterLayout& layout, std::string_view name) {
  std::string own = WithoutWrappers(name);
  if (const auto index = FindTensor(layout, own)) {
    return {NameKind::kTensor, *index};
  }
  if (own.starts_with(kFieldPrefix)) {
    own.erase(0, kFieldPrefix.size());
    if (const auto index = FindTensor(layout, own)) {
      return {NameKind::kTensor, *index};
    }
  }
  if (own == kHead) {
    const auto table = FindTokenTable(layout);
    if (table) return {NameKind::kTiedHead, *table};
  }
  return {IsDerived(own) ? NameKind::kDerived : NameKind::kUnknown, -1};
}

}  // namespace skerry::model
