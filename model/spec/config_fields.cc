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
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "chunk_size_feed_forward",
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
    "max_length",
    "max_new_tokens",
    "max_sequence_length",
    "min_length",
    "model_type",
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
    "transformers_version",
    "typical_p",
    "unk_token_id",
    "use_bfloat16",
    "use_cache",
};

// What every config may say of models that none of ours is, and what it says
// where it does not.
struct Harmless {
  const char* key;
  const char* json;
};
constexpr Harmless kHarmless[] = {
    {"add_cross_attention", "false"},
    {"is_encoder_decoder", "false"},
    {"pruned_heads", "{}"},
    {"tie_encoder_decoder", "false"},
};

bool IsHarmlessKey(std::string_view key) {
  return std::any_of(std::begin(kHarmless), std::end(kHarmless),
                     [&](const Harmless& one) { return key == one.key; });
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
    if (value.is_null() || IsBookkeeping(key) || IsHarmlessKey(key)) continue;
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    if (key == "quantization_config") {
      return Refuse(key,
                    "is of a quantised checkpoint; Skerry reads tensors of "
                    "fp32, bf16 and fp16");
    }
    return Refuse(
        key,
        "is not known to Skerry and may change the arithmetic; remove "
        "it if it does not");
  }
  return absl::OkStatus();
}

bool IsBookkeeping(std::string_view key) {
  return key.starts_with('_') ||
         std::binary_search(std::begin(kBookkeeping), std::end(kBookkeeping),
                            key);
}

}  // namespace skerry::model
