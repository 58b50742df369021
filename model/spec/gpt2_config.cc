#include "model/spec/gpt2_config.h"

#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "model/spec/config_fields.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

using Json = nlohmann::json;

// As transformers calls them. The names of one activation are one function.
constexpr std::pair<const char*, Activation> kActivations[] = {
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"gelu_fast", Activation::kGeluTanh},
    {"gelu_accurate", Activation::kGeluTanh},
    {"gelu", Activation::kGeluErf},
    {"gelu_python", Activation::kGeluErf},
    {"relu", Activation::kRelu},
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
};

absl::Status ReadActivation(const ConfigFields& fields, Activation* target) {
  std::string name = "gelu_new";
  SKERRY_RETURN_IF_ERROR(fields.ReadString("activation_function", &name));
  for (const auto& [known, activation] : kActivations) {
    if (name != known) continue;
    *target = activation;
    return absl::OkStatus();
  }
  return fields.Refuse(
      "activation_function",
      absl::StrCat("is \"", name, "\"; supported: ",
                   absl::StrJoin(kActivations, ", ",
                                 [](std::string* out, const auto& one) {
                                   absl::StrAppend(out, "\"", one.first, "\"");
                                 })));
}

// transformers knows these fields under two names, and the other name wins.
absl::Status CheckOtherNames(const ConfigFields& fields,
                             const ModelConfig& config) {
  for (const auto& [key, own, value] :
       std::initializer_list<std::tuple<const char*, const char*, int>>{
           {"hidden_size", "n_embd", config.n_embd},
           {"max_position_embeddings", "n_positions", config.n_positions},
           {"num_attention_heads", "n_head", config.n_head},
           {"num_hidden_layers", "n_layer", config.n_layer}}) {
    const Json* other = fields.Find(key);
    if (other == nullptr || *other == value) continue;
    return fields.Refuse(
        key, absl::StrCat("is ", other->dump(), ", and ", own, " is ", value,
                          ", which is the same field; write ", own, " alone"));
  }
  return absl::OkStatus();
}

absl::Status ReadDropout(const ConfigFields& fields, ModelConfig& config) {
  for (const auto& [key, target] :
       std::initializer_list<std::pair<const char*, double*>>{
           {"resid_pdrop", &config.resid_pdrop},
           {"embd_pdrop", &config.embd_pdrop},
           {"attn_pdrop", &config.attn_pdrop}}) {
    if (fields.Find(key) == nullptr) {
      return fields.Refuse(key,
                           "is absent, which Hugging Face reads as 0.1; write "
                           "that, or 0.0 to drop nothing");
    }
    SKERRY_RETURN_IF_ERROR(fields.ReadNumber(key, target));
  }
  return absl::OkStatus();
}

absl::Status CheckRange(const char* field, int value, int max) {
  if (value >= 1 && value <= max) return absl::OkStatus();
  return RefuseField(field, absl::StrCat("is ", value, ", must be 1 to ", max));
}

}  // namespace

absl::Status ValidateGpt2Config(const ModelConfig& config) {
  SKERRY_RETURN_IF_ERROR(
      CheckRange("vocab_size", config.vocab_size, kVocabSizeMax));
  SKERRY_RETURN_IF_ERROR(
      CheckRange("n_positions", config.n_positions, kPositionsMax));
  SKERRY_RETURN_IF_ERROR(CheckRange("n_embd", config.n_embd, kWidthMax));
  SKERRY_RETURN_IF_ERROR(CheckRange("n_layer", config.n_layer, kLayersMax));
  SKERRY_RETURN_IF_ERROR(CheckRange("n_head", config.n_head, config.n_embd));
  if (config.n_inner < 0 || config.n_inner > 4 * kWidthMax) {
    return RefuseField("n_inner", absl::StrCat("is ", config.n_inner));
  }
  if (config.n_embd % config.n_head != 0) {
    return RefuseField("n_head", absl::StrCat("is ", config.n_head,
                                              ", which does not divide n_embd ",
                                              config.n_embd));
  }
  if (!(config.layer_norm_epsilon > 0 && config.layer_norm_epsilon < 1)) {
    return RefuseField("layer_norm_epsilon", "must be above 0 and below 1");
  }
  if (!(config.initializer_range >= 0 && config.initializer_range <= 10)) {
    return RefuseField("initializer_range", "must be 0 to 10");
  }
  SKERRY_RETURN_IF_ERROR(CheckRate("resid_pdrop", config.resid_pdrop));
  SKERRY_RETURN_IF_ERROR(CheckRate("embd_pdrop", config.embd_pdrop));
  SKERRY_RETURN_IF_ERROR(CheckRate("attn_pdrop", config.attn_pdrop));
  const double width = config.n_embd;
  const double elements =
      width * (config.vocab_size + config.n_positions) +
      config.n_layer * width * (4 * width + 2.0 * config.inner_size());
  if (elements > kElementsMax) {
    return RefuseField("n_embd", "the model would have over 2^40 parameters");
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelConfig> ReadGpt2Config(const Json& object) {
  const ConfigFields fields(object);
  ModelConfig config;
  for (const auto& [key, target] :
       std::initializer_list<std::pair<const char*, int*>>{
           {"vocab_size", &config.vocab_size},
           {"n_positions", &config.n_positions},
           {"n_embd", &config.n_embd},
           {"n_layer", &config.n_layer},
           {"n_head", &config.n_head},
           {"n_inner", &config.n_inner}}) {
    SKERRY_RETURN_IF_ERROR(fields.ReadInt(key, target));
  }
  SKERRY_RETURN_IF_ERROR(ReadActivation(fields, &config.activation));
  SKERRY_RETURN_IF_ERROR(
      fields.ReadFloat("layer_norm_epsilon", &config.layer_norm_epsilon));
  SKERRY_RETURN_IF_ERROR(
      fields.ReadNumber("initializer_range", &config.initializer_range));
  SKERRY_RETURN_IF_ERROR(
      fields.ReadBool("tie_word_embeddings", &config.tie_word_embeddings));
  SKERRY_RETURN_IF_ERROR(
      fields.ReadBool("scale_attn_weights", &config.scale_attn_weights));
  SKERRY_RETURN_IF_ERROR(
      fields.ReadBool("scale_attn_by_inverse_layer_idx",
                      &config.scale_attn_by_inverse_layer_idx));
  SKERRY_RETURN_IF_ERROR(ReadDropout(fields, config));
  SKERRY_RETURN_IF_ERROR(CheckOtherNames(fields, config));
  // Upcasting only matters in half precision; everything here is fp32. The
  // summary is a head that a language model does not have, the special tokens
  // belong to another one.
  SKERRY_RETURN_IF_ERROR(fields.RefuseOthers({"vocab_size",
                                              "hidden_size",
                                              "max_position_embeddings",
                                              "num_attention_heads",
                                              "num_hidden_layers",
                                              "n_positions",
                                              "n_ctx",
                                              "n_embd",
                                              "n_layer",
                                              "n_head",
                                              "n_inner",
                                              "activation_function",
                                              "layer_norm_epsilon",
                                              "initializer_range",
                                              "tie_word_embeddings",
                                              "scale_attn_weights",
                                              "scale_attn_by_inverse_layer_idx",
                                              "resid_pdrop",
                                              "embd_pdrop",
                                              "attn_pdrop",
                                              "reorder_and_upcast_attn",
                                              "summary_type",
                                              "summary_use_proj",
                                              "summary_activation",
                                              "summary_first_dropout",
                                              "summary_proj_to_labels",
                                              "n_special",
                                              "predict_special_tokens"}));
  return config;
}

}  // namespace skerry::model
