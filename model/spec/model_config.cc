#include "model/spec/model_config.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "model/spec/config_fields.h"
#include "model/spec/gpt2_config.h"
#include "model/spec/llama_config.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

absl::Status RefuseType(const std::string& type) {
  return RefuseField(
      "model_type",
      absl::StrCat("is \"", type, "\"; supported: \"gpt2\", \"llama\""));
}

}  // namespace

int ModelConfig::positions_max() const {
  if (rotary.scaling != RotaryScaling::kDynamic) return n_positions;
  return static_cast<int>(
      std::min<double>(kPositionsMax, n_positions * rotary.factor));
}

absl::Status ValidateModelConfig(const ModelConfig& config) {
  if (config.model_type == "gpt2") return ValidateGpt2Config(config);
  if (config.model_type == "llama") return ValidateLlamaConfig(config);
  return RefuseType(config.model_type);
}

absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view config_json) {
  const nlohmann::json object =
      nlohmann::json::parse(config_json.begin(), config_json.end(), nullptr,
                            /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return absl::InvalidArgumentError("config.json: is not a JSON object");
  }
  std::string type;
  SKERRY_RETURN_IF_ERROR(ConfigFields(object).ReadString("model_type", &type));
  if (type.empty()) {
    return RefuseField("model_type",
                       "is missing; add \"gpt2\" or \"llama\", whichever "
                       "the model is");
  }
  if (type != "gpt2" && type != "llama") return RefuseType(type);
  SKERRY_ASSIGN_OR_RETURN(
      const ModelConfig config,
      type == "gpt2" ? ReadGpt2Config(object) : ReadLlamaConfig(object));
  SKERRY_RETURN_IF_ERROR(ValidateModelConfig(config));
  return config;
}

}  // namespace skerry::model
