#include "model/spec/config_fields.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

using Json = nlohmann::json;

// Sorted.
constexpr std::string_view kBookkeeping[] = {
    "architectures",
    "attn_implementation",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "chunk_size_feed_forward",
    "classifier_dropout",
    "cls_token_id",
    "custom_pipelines",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "eos_token_ids",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "id2label",
    "is_decoder",
    "keys_to_ignore_at_inference",
    "label2id",
    "length_penalty",
    "license",
    "mask_token_id",
    "max_length",
    "max_new_tokens",
    "max_sequence_length",
    "max_window_layers",
    "min_length",
    "model_max_length",
    "model_type",
    "neftune_noise_alpha",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_scores",
    "pad_token_id",
    "prefix",
    "problem_type",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers.js_config",
    "transformers_version",
    "typical_p",
    "unk_token_id",
    "unsloth_fixed",
    "unsloth_version",
    "use_bfloat16",
    "use_cache",
};

// Keys of models that none of ours is, and the one value of each with which the
// model computes as ours do.
struct Harmless {
  const char* key;
  const char* json;
};
constexpr Harmless kHarmless[] = {
    {"add_cross_attention", "false"},
    {"embedding_multiplier", "1.0"},
    {"is_causal", "true"},
    {"is_encoder_decoder", "false"},
    {"logits_scaling", "1.0"},
    {"partial_rotary_factor", "1.0"},
    {"pruned_heads", "{}"},
    {"residual_multiplier", "1.0"},
    {"tie_encoder_decoder", "false"},
};

bool IsHarmlessKey(std::string_view key) {
  return std::any_of(std::begin(kHarmless), std::end(kHarmless),
                     [&](const Harmless& one) { return key == one.key; });
}

// A switch that is off, a share of nothing, a list of none.
bool IsOff(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value == 0;
  if (value.is_string()) return value.get<std::string>().empty();
  return value.empty();
}

// Whether the key says that every layer looks at the whole text.
bool SaysFullAttention(const std::string& key, const Json& value,
                       const Json& config) {
  if (key == "layer_types") {
    return value.is_array() &&
           std::all_of(value.begin(), value.end(), [](const Json& layer) {
             return layer == "full_attention";
           });
  }
  return key == "sliding_window" && config.contains("use_sliding_window") &&
         config["use_sliding_window"] == false;
}

}  // namespace

absl::Status RefuseField(std::string_view field, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "config.json: ", absl::string_view(field.data(), field.size()), ": ",
      absl::string_view(why.data(), why.size())));
}

absl::Status CheckRate(std::string_view field, double rate) {
  if (rate >= 0 && rate < 1) return absl::OkStatus();
  return RefuseField(field,
                     absl::StrCat("is ", rate, ", must be 0 to below 1"));
}

absl::Status ConfigFields::Refuse(std::string_view key,
                                  std::string_view why) const {
  return RefuseField(prefix_ + std::string(key), why);
}

const Json* ConfigFields::Find(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

absl::Status ConfigFields::ReadInt(const char* key, int* target) const {
  const Json* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_number_integer() || *value < 1 || *value > INT32_MAX) {
    return Refuse(key, absl::StrCat("is ", value->dump(),
                                    ", must be a positive integer"));
  }
  *target = value->get<int>();
  return absl::OkStatus();
}

absl::Status ConfigFields::ReadNumber(const char* key, double* target) const {
  const Json* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_number()) {
    return Refuse(key,
                  absl::StrCat("is ", value->dump(), ", must be a number"));
  }
  *target = value->get<double>();
  return absl::OkStatus();
}

absl::Status ConfigFields::ReadFloat(const char* key, float* target) const {
  double value = *target;
  SKERRY_RETURN_IF_ERROR(ReadNumber(key, &value));
  *target = static_cast<float>(value);
  return absl::OkStatus();
}

absl::Status ConfigFields::ReadBool(const char* key, bool* target) const {
  const Json* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_boolean()) {
    return Refuse(
        key, absl::StrCat("is ", value->dump(), ", must be true or false"));
  }
  *target = value->get<bool>();
  return absl::OkStatus();
}

absl::Status ConfigFields::ReadString(const char* key,
                                      std::string* target) const {
  const Json* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_string()) {
    return Refuse(key, absl::StrCat("is ", value->dump(), ", must be text"));
  }
  *target = value->get<std::string>();
  return absl::OkStatus();
}

absl::Status ConfigFields::RefuseUnless(const char* key,
                                        const Json& harmless) const {
  const Json* value = Find(key);
  if (value == nullptr || *value == harmless) return absl::OkStatus();
  return Refuse(key, absl::StrCat("is ", value->dump(),
                                  ", which Skerry does not compute; it can "
                                  "only be ",
                                  harmless.dump()));
}

absl::Status ConfigFields::RefuseOthers(
    std::initializer_list<std::string_view> known) const {
  for (const auto& [key, json] : kHarmless) {
    SKERRY_RETURN_IF_ERROR(RefuseUnless(key, Json::parse(json)));
  }
  for (const auto& [key, value] : object_.items()) {
    if (value.is_null()) continue;
    if (key == "quantization_config") {
      return Refuse(key,
                    "is of a quantised checkpoint; Skerry reads tensors of "
                    "fp32, bf16, fp16 and fp64; save it dequantised");
    }
    if (IsOff(value) || IsBookkeeping(key) || IsHarmlessKey(key)) continue;
    if (SaysFullAttention(key, value, object_)) continue;
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return Refuse(
        key,
        "is not known to Skerry and may change the arithmetic; remove "
        "it from config.json if it does not");
  }
  return absl::OkStatus();
}

bool IsBookkeeping(std::string_view key) {
  return key.starts_with('_') ||
         std::binary_search(std::begin(kBookkeeping), std::end(kBookkeeping),
                            key);
}

}  // namespace skerry::model
