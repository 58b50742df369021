#include "model/spec/llama_config.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "model/spec/config_fields.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

using Json = nlohmann::json;

absl::Status CheckRange(const char* field, int value, int max) {
  if (value >= 1 && value <= max) return absl::OkStatus();
  return RefuseField(field, absl::StrCat("is ", value, ", must be 1 to ", max));
}

absl::Status RequireNumber(const ConfigFields& fields, const char* key,
                           double* target) {
  if (fields.Find(key) == nullptr) {
    return fields.Refuse(key, "is missing, this kind of scaling needs it");
  }
  return fields.ReadNumber(key, target);
}

// How much wider the scores get for a context stretched `factor` times.
double YarnScale(double factor, double weight) {
  return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

absl::Status ReadYarn(const ConfigFields& fields, RotaryConfig* rotary) {
  SKERRY_RETURN_IF_ERROR(RequireNumber(fields, "factor", &rotary->factor));
  SKERRY_RETURN_IF_ERROR(fields.ReadNumber("beta_fast", &rotary->beta_fast));
  SKERRY_RETURN_IF_ERROR(fields.ReadNumber("beta_slow", &rotary->beta_slow));
  SKERRY_RETURN_IF_ERROR(fields.ReadBool("truncate", &rotary->truncate));
  SKERRY_RETURN_IF_ERROR(fields.ReadInt("original_max_position_embeddings",
                                        &rotary->original_positions));
  double weight = 0;
  double weight_all = 0;
  SKERRY_RETURN_IF_ERROR(fields.ReadNumber("mscale", &weight));
  SKERRY_RETURN_IF_ERROR(fields.ReadNumber("mscale_all_dim", &weight_all));
  rotary->attention_factor = weight != 0 && weight_all != 0
                                 ? YarnScale(rotary->factor, weight) /
                                       YarnScale(rotary->factor, weight_all)
                                 : YarnScale(rotary->factor, 1);
  SKERRY_RETURN_IF_ERROR(
      fields.ReadNumber("attention_factor", &rotary->attention_factor));
  return fields.RefuseOthers(
      {"rope_type", "type", "rope_theta", "factor", "beta_fast", "beta_slow",
       "truncate", "original_max_position_embeddings", "mscale",
       "mscale_all_dim", "attention_factor", "partial_rotary_factor"});
}

absl::Status ReadLlama3(const ConfigFields& fields, RotaryConfig* rotary) {
  SKERRY_RETURN_IF_ERROR(RequireNumber(fields, "factor", &rotary->factor));
  SKERRY_RETURN_IF_ERROR(
      RequireNumber(fields, "low_freq_factor", &rotary->low_frequency_factor));
  SKERRY_RETURN_IF_ERROR(RequireNumber(fields, "high_freq_factor",
                                       &rotary->high_frequency_factor));
  SKERRY_RETURN_IF_ERROR(fields.ReadInt("original_max_position_embeddings",
                                        &rotary->original_positions));
  return fields.RefuseOthers({"rope_type", "type", "rope_theta", "factor",
                              "low_freq_factor", "high_freq_factor",
                              "original_max_position_embeddings",
                              "partial_rotary_factor"});
}

absl::Status ReadScaling(const ConfigFields& fields, int positions,
                         RotaryConfig* rotary) {
  std::string type = "default";
  SKERRY_RETURN_IF_ERROR(fields.ReadString("type", &type));
  SKERRY_RETURN_IF_ERROR(fields.ReadString("rope_type", &type));
  SKERRY_RETURN_IF_ERROR(fields.RefuseUnless("partial_rotary_factor", 1.0));
  rotary->original_positions = positions;
  if (type == "llama3") {
    rotary->scaling = RotaryScaling::kLlama3;
    return ReadLlama3(fields, rotary);
  }
  if (type == "yarn") {
    rotary->scaling = RotaryScaling::kYarn;
    return ReadYarn(fields, rotary);
  }
  if (type == "linear" || type == "dynamic") {
    rotary->scaling =
        type == "linear" ? RotaryScaling::kLinear : RotaryScaling::kDynamic;
    SKERRY_RETURN_IF_ERROR(RequireNumber(fields, "factor", &rotary->factor));
  } else if (type != "default") {
    return fields.Refuse(
        "rope_type",
        absl::StrCat("is \"", type, "\"; supported: \"default\", \"linear\", ",
                     "\"dynamic\", \"llama3\", \"yarn\""));
  }
  return fields.RefuseOthers(
      {"rope_type", "type", "rope_theta", "factor", "partial_rotary_factor"});
}

absl::Status ReadRotary(const ConfigFields& fields, int positions,
                        RotaryConfig* rotary) {
  SKERRY_RETURN_IF_ERROR(fields.ReadNumber("rope_theta", &rotary->theta));
  const Json* older = fields.Find("rope_scaling");
  const Json* newer = fields.Find("rope_parameters");
  if (older == nullptr && newer == nullptr) return absl::OkStatus();
  if (older != nullptr && newer != nullptr) {
    return fields.Refuse("rope_scaling",
                         "stands beside rope_parameters; keep one of them");
  }
  const char* key = older != nullptr ? "rope_scaling" : "rope_parameters";
  const Json& object = older != nullptr ? *older : *newer;
  if (!object.is_object()) return fields.Refuse(key, "must be an object");
  const ConfigFields inner(object, absl::StrCat(key, "."));
  const double outer_theta = rotary->theta;
  SKERRY_RETURN_IF_ERROR(inner.ReadNumber("rope_theta", &rotary->theta));
  if (fields.Find("rope_theta") != nullptr && rotary->theta != outer_theta) {
    return fields.Refuse("rope_theta",
                         absl::StrCat("differs from ", key, ".rope_theta"));
  }
  return ReadScaling(inner, positions, rotary);
}

// The gate's. "swish" is the same function.
absl::Status ReadActivation(const ConfigFields& fields) {
  std::string name = "silu";
  SKERRY_RETURN_IF_ERROR(fields.ReadString("hidden_act", &name));
  if (name == "silu" || name == "swish") return absl::OkStatus();
  return fields.Refuse(
      "hidden_act",
      absl::StrCat("is \"", name,
                   "\", which Skerry does not compute in a gated MLP; it can "
                   "only be \"silu\""));
}

absl::Status ValidateRotary(const ModelConfig& config) {
  const RotaryConfig& rotary = config.rotary;
  const auto refuse = [](const char* field, const char* why) {
    return RefuseField(absl::StrCat("rope_parameters.", field), why);
  };
  if (!(rotary.theta > 1 && rotary.theta <= 1e12)) {
    return RefuseField("rope_theta", "must be above 1 and at most 1e12");
  }
  if (!(rotary.factor >= 1 && rotary.factor <= 1e6)) {
    return refuse("factor", "must be 1 to 1e6");
  }
  if (!(rotary.attention_factor > 0 && rotary.attention_factor <= 1e3)) {
    return refuse("attention_factor", "must be above 0 and at most 1000");
  }
  if (rotary.scaling == RotaryScaling::kNone ||
      rotary.scaling == RotaryScaling::kLinear) {
    return absl::OkStatus();
  }
  if (rotary.original_positions < 1 ||
      rotary.original_positions > kPositionsMax) {
    return refuse("original_max_position_embeddings", "is out of range");
  }
  if (rotary.scaling == RotaryScaling::kDynamic && config.head_size() == 2) {
    return refuse("rope_type", "\"dynamic\" needs a head_dim above 2");
  }
  if (rotary.scaling == RotaryScaling::kLlama3 &&
      !(rotary.low_frequency_factor > 0 &&
        rotary.low_frequency_factor < rotary.high_frequency_factor &&
        rotary.high_frequency_factor <= 1e6)) {
    return refuse("low_freq_factor",
                  "must be above 0 and below high_freq_factor");
  }
  if (rotary.scaling == RotaryScaling::kYarn &&
      !(rotary.beta_slow > 0 && rotary.beta_slow < rotary.beta_fast &&
        rotary.beta_fast <= 1e6)) {
    return refuse("beta_slow", "must be above 0 and below beta_fast");
  }
  return absl::OkStatus();
}

absl::Status ValidateHeads(const ModelConfig& config) {
  SKERRY_RETURN_IF_ERROR(
      CheckRange("num_attention_heads", config.n_head, config.n_embd));
  // Transformers asks this even where head_dim is given.
  if (config.n_embd % config.n_head != 0) {
    return RefuseField(
        "num_attention_heads",
        absl::StrCat("is ", config.n_head,
                     ", which does not divide hidden_size ", config.n_embd));
  }
  SKERRY_RETURN_IF_ERROR(CheckRange("head_dim", config.head_size(), kWidthMax));
  if (config.head_size() % 2 != 0) {
    return RefuseField("head_dim",
                       absl::StrCat("is ", config.head_size(),
                                    ", must be even to turn in pairs"));
  }
  SKERRY_RETURN_IF_ERROR(CheckRange("num_attention_heads", config.n_head,
                                    kWidthMax / config.head_size()));
  if (config.n_kv_head < 0 || config.n_head % config.kv_heads() != 0) {
    return RefuseField(
        "num_key_value_heads",
        absl::StrCat("is ", config.n_kv_head,
                     ", which does not divide num_attention_heads ",
                     config.n_head));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateLlamaConfig(const ModelConfig& config) {
  SKERRY_RETURN_IF_ERROR(
      CheckRange("vocab_size", config.vocab_size, kVocabSizeMax));
  SKERRY_RETURN_IF_ERROR(
      CheckRange("max_position_embeddings", config.n_positions, kPositionsMax));
  SKERRY_RETURN_IF_ERROR(CheckRange("hidden_size", config.n_embd, kWidthMax));
  SKERRY_RETURN_IF_ERROR(
      CheckRange("num_hidden_layers", config.n_layer, kLayersMax));
  SKERRY_RETURN_IF_ERROR(
      CheckRange("intermediate_size", config.inner_size(), 4 * kWidthMax));
  SKERRY_RETURN_IF_ERROR(ValidateHeads(config));
  if (!(config.layer_norm_epsilon > 0 && config.layer_norm_epsilon < 1)) {
    return RefuseField("rms_norm_eps", "must be above 0 and below 1");
  }
  if (!(config.initializer_range >= 0 && config.initializer_range <= 10)) {
    return RefuseField("initializer_range", "must be 0 to 10");
  }
  SKERRY_RETURN_IF_ERROR(ValidateRotary(config));
  SKERRY_RETURN_IF_ERROR(CheckRate("attention_dropout", config.attn_pdrop));
  const double width = config.n_embd;
  const double heads = 2.0 * (config.n_head + config.kv_heads());
  const double elements =
      2 * width * config.vocab_size +
      config.n_layer * width *
          (heads * config.head_size() + 3.0 * config.inner_size());
  if (elements > kElementsMax) {
    return RefuseField("hidden_size",
                       "the model would have over 2^40 parameters");
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelConfig> ReadLlamaConfig(const Json& object) {
  const ConfigFields fields(object);
  ModelConfig config;
  config.model_type = "llama";
  config.vocab_size = 32000;
  config.n_positions = 2048;
  config.n_embd = 4096;
  config.n_layer = 32;
  config.n_head = 32;
  config.n_inner = 11008;
  config.layer_norm_epsilon = 1e-6f;
  config.tie_word_embeddings = false;
  for (const auto& [key, target] :
       std::initializer_list<std::pair<const char*, int*>>{
           {"vocab_size", &config.vocab_size},
           {"max_position_embeddings", &config.n_positions},
           {"hidden_size", &config.n_embd},
           {"num_hidden_layers", &config.n_layer},
           {"num_attention_heads", &config.n_head},
           {"num_key_value_heads", &config.n_kv_head},
           {"head_dim", &config.head_dim},
           {"intermediate_size", &config.n_inner}}) {
    SKERRY_RETURN_IF_ERROR(fields.ReadInt(key, target));
  }
  SKERRY_RETURN_IF_ERROR(
      fields.ReadFloat("rms_norm_eps", &config.layer_norm_epsilon));
  SKERRY_RETURN_IF_ERROR(
      fields.ReadNumber("initializer_range", &config.initializer_range));
  SKERRY_RETURN_IF_ERROR(
      fields.ReadBool("tie_word_embeddings", &config.tie_word_embeddings));
  SKERRY_RETURN_IF_ERROR(
      fields.ReadBool("attention_bias", &config.attention_bias));
  SKERRY_RETURN_IF_ERROR(fields.ReadBool("mlp_bias", &config.mlp_bias));
  SKERRY_RETURN_IF_ERROR(
      ReadRotary(fields, config.n_positions, &config.rotary));
  SKERRY_RETURN_IF_ERROR(ReadActivation(fields));
  SKERRY_RETURN_IF_ERROR(
      fields.ReadNumber("attention_dropout", &config.attn_pdrop));
  SKERRY_RETURN_IF_ERROR(fields.RefuseUnless("rope_interleaved", false));
  // pretraining_tp cuts products in parts and sums them again.
  SKERRY_RETURN_IF_ERROR(fields.RefuseOthers({"vocab_size",
                                              "max_position_embeddings",
                                              "hidden_size",
                                              "num_hidden_layers",
                                              "num_attention_heads",
                                              "num_key_value_heads",
                                              "head_dim",
                                              "intermediate_size",
                                              "rms_norm_eps",
                                              "initializer_range",
                                              "tie_word_embeddings",
                                              "attention_bias",
                                              "mlp_bias",
                                              "rope_theta",
                                              "rope_scaling",
                                              "rope_parameters",
                                              "hidden_act",
                                              "attention_dropout",
                                              "pretraining_tp",
                                              "rope_interleaved",
                                              "is_llama_config"}));
  return config;
}

}  // namespace skerry::model
