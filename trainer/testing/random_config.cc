#include "trainer/testing/random_config.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"

namespace skerry::trainer {
namespace {

// Most keys have their usual value, or hardly any config would be accepted.
constexpr uint64_t kOtherOneIn = 12;

// A key of config.json and its values as JSON. Without a usual value, most
// files lack the key.
struct Key {
  const char* name;
  const char* usual;
  std::vector<const char*> others;
};

const std::vector<Key>& Gpt2Keys() {
  static const auto* const keys = new std::vector<Key>{
      {"vocab_size",
       "256",
       {"1", "255", "257", "50257", "16777216", "16777217", "0", "null", "1e3",
        R"("256")"}},
      {"n_positions",
       "64",
       {"1", "2", "33", "1024", "32768", "1048576", "1048577", "0"}},
      {"n_embd", "8", {"1", "6", "16", "131072", "131073", "-8"}},
      {"n_layer", "1", {"2", "3", "4096", "4097", "0"}},
      {"n_head", "1", {"2", "3", "4", "8", "9", "0"}},
      {"n_inner", nullptr, {"1", "7", "32", "524288", "524289", "0"}},
      {"activation_function",
       nullptr,
       {R"("gelu")", R"("gelu_fast")", R"("relu")", R"("silu")", R"("mish")",
        "7"}},
      {"layer_norm_epsilon", nullptr, {"1e-5", "1e-60", "0", "0.999", "1"}},
      {"initializer_range", nullptr, {"0", "0.02", "10", "10.5", "-1"}},
      {"tie_word_embeddings", nullptr, {"true", "false", "1"}},
      {"scale_attn_weights", nullptr, {"true", "false"}},
      {"scale_attn_by_inverse_layer_idx", nullptr, {"true", "false"}},
      {"resid_pdrop", "0", {"0.1", "0.999", "1", "-0.1", "null"}},
      {"embd_pdrop", "0", {"0.1", "0.999", "1"}},
      {"attn_pdrop", "0", {"0.1", "0.999", "1"}},
      {"hidden_size", nullptr, {"8", "9"}},
      {"mystery", nullptr, {"0", "0.5"}},
  };
  return *keys;
}

const std::vector<Key>& LlamaKeys() {
  static const auto* const keys = new std::vector<Key>{
      {"vocab_size", "256", {"1", "257", "32000", "16777216", "16777217"}},
      {"max_position_embeddings",
       "64",
       {"1", "33", "1024", "32768", "1048576", "1048577"}},
      {"hidden_size", "8", {"2", "6", "16", "131072", "131073"}},
      {"num_hidden_layers", "1", {"2", "4096", "4097", "0"}},
      {"num_attention_heads", "2", {"1", "3", "4", "8", "0"}},
      {"num_key_value_heads", nullptr, {"1", "2", "3", "4", "0"}},
      {"head_dim", nullptr, {"1", "2", "6", "64", "131072"}},
      {"intermediate_size", "16", {"1", "7", "524288", "524289", "0"}},
      {"rms_norm_eps", nullptr, {"1e-6", "1e-60", "0", "1"}},
      {"initializer_range", nullptr, {"0", "10", "10.5"}},
      {"tie_word_embeddings", nullptr, {"true", "false"}},
      {"attention_bias", nullptr, {"true", "false"}},
      {"mlp_bias", nullptr, {"true", "false"}},
      {"rope_theta", nullptr, {"1e4", "5e5", "1", "1e12", "1e13"}},
      {"rope_scaling",
       nullptr,
       {R"({"type": "linear", "factor": 2})",
        R"({"rope_type": "dynamic", "factor": 4})",
        R"({"rope_type": "dynamic", "factor": 1e6})",
        R"({"rope_type": "dynamic"})",
        R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, )"
        R"("high_freq_factor": 4, "original_max_position_embeddings": 32})",
        R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, )"
        R"("high_freq_factor": 1, "original_max_position_embeddings": 32})",
        R"({"rope_type": "yarn", "factor": 4})",
        R"({"rope_type": "yarn", "factor": 1, "beta_fast": 2e-6, )"
        R"("beta_slow": 1e-6, "truncate": false})",
        R"({"rope_type": "yarn", "factor": 0.5})",
        R"({"rope_type": "longrope", "factor": 4})", "7"}},
      {"rope_parameters", nullptr, {R"({"rope_type": "default"})"}},
      {"hidden_act", nullptr, {R"("silu")", R"("gelu")"}},
      {"attention_dropout", nullptr, {"0.1", "1"}},
      {"sliding_window", nullptr, {"null", "32"}},
  };
  return *keys;
}

}  // namespace

std::string RandomConfig(Random& random) {
  const bool llama = random.Below(2) == 0;
  std::string text =
      absl::StrCat(R"({"model_type": ")", llama ? "llama" : "gpt2", R"(")");
  for (const Key& key : llama ? LlamaKeys() : Gpt2Keys()) {
    const char* value = key.usual;
    if (random.Below(kOtherOneIn) == 0) {
      value = key.others[random.Below(key.others.size())];
    }
    if (value == nullptr) continue;
    absl::StrAppend(&text, ", \"", key.name, "\": ", value);
  }
  return text + "}";
}

}  // namespace skerry::trainer
