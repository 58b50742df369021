#include "model/spec/model_config.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

using Json = nlohmann::json;

// Bounds that keep every product of two sizes inside 64 bits and every file
// that passes within reach of some machine.
constexpr int kVocabSizeMax = 1 << 24;
constexpr int kPositionsMax = 1 << 20;
constexpr int kWidthMax = 1 << 17;
constexpr int kLayersMax = 1 << 12;
constexpr int64_t kElementsMax = int64_t{1} << 40;

absl::Status Refuse(absl::string_view field, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("config.json: ", field, ": ", why));
}

// A key that is absent or null keeps what `target` holds.
const Json* Find(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

absl::Status ReadInt(const Json& object, const char* key, int* target) {
  const Json* value = Find(object, key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_number_integer() || *value < 1 || *value > INT32_MAX) {
    return Refuse(key, absl::StrCat("is ", value->dump(),
                                    ", must be a positive integer"));
  }
  *target = value->get<int>();
  return absl::OkStatus();
}

absl::Status ReadNumber(const Json& object, const char* key, double* target) {
  const Json* value = Find(object, key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_number()) {
    return Refuse(key,
                  absl::StrCat("is ", value->dump(), ", must be a number"));
  }
  *target = value->get<double>();
  return absl::OkStatus();
}

absl::Status ReadBool(const Json& object, const char* key, bool* target) {
  const Json* value = Find(object, key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_boolean()) {
    return Refuse(
        key, absl::StrCat("is ", value->dump(), ", must be true or false"));
  }
  *target = value->get<bool>();
  return absl::OkStatus();
}

absl::Status ReadActivation(const Json& object, Activation* target) {
  constexpr char kKey[] = "activation_function";
  const Json* value = Find(object, kKey);
  if (value == nullptr) return absl::OkStatus();
  if (*value == "gelu_new") {
    *target = Activation::kGeluTanh;
  } else if (*value == "gelu") {
    *target = Activation::kGeluErf;
  } else {
    return Refuse(kKey, absl::StrCat("is ", value->dump(),
                                     "; supported: \"gelu_new\", \"gelu\""));
  }
  return absl::OkStatus();
}

absl::Status RefuseDropout(const Json& object) {
  for (const char* key : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) {
    const Json* value = Find(object, key);
    if (value == nullptr) {
      return Refuse(key,
                    "is absent, which Hugging Face reads as 0.1; Skerry trains "
                    "without dropout, so write 0.0");
    }
    if (!value->is_number() || *value != 0.0) {
      return Refuse(key, absl::StrCat("is ", value->dump(),
                                      "; Skerry trains without dropout, so "
                                      "write 0.0"));
    }
  }
  return absl::OkStatus();
}

absl::Status RefuseFeature(const Json& object, const char* key) {
  bool wanted = false;
  SKERRY_RETURN_IF_ERROR(ReadBool(object, key, &wanted));
  if (wanted) return Refuse(key, "is true, which Skerry does not compute");
  return absl::OkStatus();
}

absl::Status CheckRange(const char* field, int value, int max) {
  if (value >= 1 && value <= max) return absl::OkStatus();
  return Refuse(field, absl::StrCat("is ", value, ", must be 1 to ", max));
}

}  // namespace

absl::Status ValidateModelConfig(const ModelConfig& config) {
  if (config.model_type != "gpt2") {
    return Refuse("model_type", absl::StrCat("is \"", config.model_type,
                                             "\"; supported: \"gpt2\""));
  }
  SKERRY_RETURN_IF_ERROR(
      CheckRange("vocab_size", config.vocab_size, kVocabSizeMax));
  SKERRY_RETURN_IF_ERROR(
      CheckRange("n_positions", config.n_positions, kPositionsMax));
  SKERRY_RETURN_IF_ERROR(CheckRange("n_embd", config.n_embd, kWidthMax));
  SKERRY_RETURN_IF_ERROR(CheckRange("n_layer", config.n_layer, kLayersMax));
  SKERRY_RETURN_IF_ERROR(CheckRange("n_head", config.n_head, config.n_embd));
  if (config.n_inner < 0 || config.n_inner > 4 * kWidthMax) {
    return Refuse("n_inner", absl::StrCat("is ", config.n_inner));
  }
  if (config.n_embd % config.n_head != 0) {
    return Refuse("n_head", absl::StrCat("is ", config.n_head,
                                         ", which does not divide n_embd ",
                                         config.n_embd));
  }
  if (!(config.layer_norm_epsilon > 0 && config.layer_norm_epsilon < 1)) {
    return Refuse("layer_norm_epsilon", "must be above 0 and below 1");
  }
  if (!(config.initializer_range >= 0 && config.initializer_range <= 10)) {
    return Refuse("initializer_range", "must be 0 to 10");
  }
  const double width = config.n_embd;
  const double elements =
      width * (config.vocab_size + config.n_positions) +
      config.n_layer * width * (4 * width + 2.0 * config.inner_size());
  if (elements > static_cast<double>(kElementsMax)) {
    return Refuse("n_embd", "the model would have over 2^40 parameters");
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view config_json) {
  const Json object = Json::parse(config_json.begin(), config_json.end(),
                                  nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return absl::InvalidArgumentError("config.json: is not a JSON object");
  }
  ModelConfig config;
  const Json* type = Find(object, "model_type");
  if (type == nullptr || !type->is_string()) {
    return Refuse("model_type", "is missing; supported: \"gpt2\"");
  }
  config.model_type = type->get<std::string>();
  if (config.model_type != "gpt2") return ValidateModelConfig(config);
  for (const auto& [key, target] :
       std::initializer_list<std::pair<const char*, int*>>{
           {"vocab_size", &config.vocab_size},
           {"n_positions", &config.n_positions},
           {"n_embd", &config.n_embd},
           {"n_layer", &config.n_layer},
           {"n_head", &config.n_head},
           {"n_inner", &config.n_inner}}) {
    SKERRY_RETURN_IF_ERROR(ReadInt(object, key, target));
  }
  SKERRY_RETURN_IF_ERROR(ReadActivation(object, &config.activation));
  double epsilon = config.layer_norm_epsilon;
  SKERRY_RETURN_IF_ERROR(ReadNumber(object, "layer_norm_epsilon", &epsilon));
  config.layer_norm_epsilon = static_cast<float>(epsilon);
  SKERRY_RETURN_IF_ERROR(
      ReadNumber(object, "initializer_range", &config.initializer_range));
  SKERRY_RETURN_IF_ERROR(
      ReadBool(object, "tie_word_embeddings", &config.tie_word_embeddings));
  SKERRY_RETURN_IF_ERROR(
      ReadBool(object, "scale_attn_weights", &config.scale_attn_weights));
  SKERRY_RETURN_IF_ERROR(ReadBool(object, "scale_attn_by_inverse_layer_idx",
                                  &config.scale_attn_by_inverse_layer_idx));
  // Upcasting only matters in half precision; everything here is fp32.
  SKERRY_RETURN_IF_ERROR(RefuseFeature(object, "add_cross_attention"));
  SKERRY_RETURN_IF_ERROR(RefuseDropout(object));
  SKERRY_RETURN_IF_ERROR(ValidateModelConfig(config));
  return config;
}

}  // namespace skerry::model
