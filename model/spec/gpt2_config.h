// model/spec/gpt2_config.h
//
// The fields of a GPT-2 config.json.
#ifndef SKERRY_MODEL_SPEC_GPT2_CONFIG_H_
#define SKERRY_MODEL_SPEC_GPT2_CONFIG_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/spec/model_config.h"
#include "nlohmann/json_fwd.hpp"

namespace skerry::model {

// Not yet validated. resid_pdrop, embd_pdrop and attn_pdrop must be present,
// because Hugging Face reads an absent one as 0.1: nothing is dropped unasked.
//
// Errors: InvalidArgument that names the field.
absl::StatusOr<ModelConfig> ReadGpt2Config(const nlohmann::json& object);

// Errors: InvalidArgument that names the field.
absl::Status ValidateGpt2Config(const ModelConfig& config);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_GPT2_CONFIG_H_
