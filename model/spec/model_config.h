// model/spec/model_config.h
//
// What a Hugging Face config.json says about a GPT-2 model, checked once so
// that nothing after it has to.
#ifndef SKERRY_MODEL_SPEC_MODEL_CONFIG_H_
#define SKERRY_MODEL_SPEC_MODEL_CONFIG_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::model {

enum class Activation {
  kGeluTanh,  // "gelu_new": 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  kGeluErf,   // "gelu": 0.5 x (1 + erf(x / sqrt(2)))
};

// Members carry Hugging Face's names and, where a file may leave a key out,
// its defaults.
struct ModelConfig {
  std::string model_type = "gpt2";
  int vocab_size = 50257;
  int n_positions = 1024;
  int n_embd = 768;
  int n_layer = 12;
  int n_head = 12;
  int n_inner = 0;  // width inside the MLP; 0 means 4 * n_embd
  Activation activation = Activation::kGeluTanh;
  float layer_norm_epsilon = 1e-5f;
  double initializer_range = 0.02;
  bool tie_word_embeddings = true;
  bool scale_attn_weights = true;
  bool scale_attn_by_inverse_layer_idx = false;

  int head_size() const { return n_embd / n_head; }
  int inner_size() const { return n_inner > 0 ? n_inner : 4 * n_embd; }
};

// Reads a config.json. Keys that do not change the arithmetic (token ids,
// task parameters, versions, anything unknown) are ignored.
//
// Errors: InvalidArgument, naming the field, for text that is not a JSON
// object, another model_type, a value out of range or of the wrong type, and
// for a feature that Skerry does not compute. Dropout is one of these:
// resid_pdrop, embd_pdrop and attn_pdrop must be present and 0, because
// Hugging Face reads an absent one as 0.1.
absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view config_json);

// The same checks for a config made in code.
absl::Status ValidateModelConfig(const ModelConfig& config);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_MODEL_CONFIG_H_
