// model/spec/model_config.h
//
// Reads what a Hugging Face config.json says about a model. It is checked once,
// so that later code need not.
#ifndef SKERRY_MODEL_SPEC_MODEL_CONFIG_H_
#define SKERRY_MODEL_SPEC_MODEL_CONFIG_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/spec/rotary.h"

namespace skerry::model {

enum class Activation {
  kGeluTanh,  // "gelu_new": 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  kGeluErf,   // "gelu": 0.5 x (1 + erf(x / sqrt(2)))
  kRelu,      // "relu": max(x, 0)
  kSilu,      // "silu": x / (1 + exp(-x))
};

// Members carry the names and the defaults of GPT-2's file; Llama's names
// stand beside them where they differ.
struct ModelConfig {
  std::string model_type = "gpt2";  // or "llama"
  int vocab_size = 50257;
  int n_positions = 1024;  // max_position_embeddings
  int n_embd = 768;        // hidden_size
  int n_layer = 12;        // num_hidden_layers
  int n_head = 12;         // num_attention_heads
  int n_inner = 0;         // intermediate_size; 0 means 4 * n_embd
  Activation activation = Activation::kGeluTanh;
  float layer_norm_epsilon = 1e-5f;  // rms_norm_eps
  double initializer_range = 0.02;
  bool tie_word_embeddings = true;
  // Share of attention's probabilities that training drops.
  double attn_pdrop = 0;  // attention_dropout

  // GPT-2.
  bool scale_attn_weights = true;
  bool scale_attn_by_inverse_layer_idx = false;
  // Share that training drops of the embedding, and of what goes to the
  // residual stream.
  double embd_pdrop = 0;
  double resid_pdrop = 0;

  // Llama.
  int n_kv_head = 0;  // num_key_value_heads; 0 means n_head
  int head_dim = 0;   // 0 means n_embd / n_head
  bool attention_bias = false;
  bool mlp_bias = false;
  RotaryConfig rotary;

  int head_size() const { return head_dim > 0 ? head_dim : n_embd / n_head; }
  int kv_heads() const { return n_kv_head > 0 ? n_kv_head : n_head; }
  int inner_size() const { return n_inner > 0 ? n_inner : 4 * n_embd; }
  // The longest sequence the model is defined for: n_positions, or as far as
  // dynamic scaling is meant to stretch them.
  int positions_max() const;
};

// Bounds that keep every product of two sizes inside 64 bits and every file
// that passes within reach of some machine.
inline constexpr int kVocabSizeMax = 1 << 24;
inline constexpr int kPositionsMax = 1 << 20;
inline constexpr int kWidthMax = 1 << 17;
inline constexpr int kLayersMax = 1 << 12;
inline constexpr double kElementsMax = 1099511627776.0;  // 2^40

// Reads a config.json. Keys known to say nothing about the arithmetic (token
// ids, generation defaults, versions) are ignored; a key whose value is null
// counts as absent.
//
// Errors: InvalidArgument, naming the field, for text that is not a JSON
// object, an unknown model_type, a value out of range or of the wrong type, a
// feature that Skerry does not compute, and any other key, which may be one.
absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view config_json);

// Makes the same checks for a config that code has made.
absl::Status ValidateModelConfig(const ModelConfig& config);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_MODEL_CONFIG_H_
