// model/spec/llama_config.h
//
// The fields of a Llama config.json, as transformers 4 writes them (rope_theta,
// rope_scaling) and as transformers 5 does (rope_parameters).
#ifndef SKERRY_MODEL_SPEC_LLAMA_CONFIG_H_
#define SKERRY_MODEL_SPEC_LLAMA_CONFIG_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/spec/model_config.h"
#include "nlohmann/json_fwd.hpp"

namespace skerry::model {

// Not yet validated.
//
// Errors: InvalidArgument that names the field.
absl::StatusOr<ModelConfig> ReadLlamaConfig(const nlohmann::json& object);

// Errors: InvalidArgument that names the field.
absl::Status ValidateLlamaConfig(const ModelConfig& config);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_LLAMA_CONFIG_H_
