#include "model/spec/llama_config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::model {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<ModelConfig> Parse(const std::string& keys) {
  return ParseModelConfig(R"({"model_type": "llama")" +
                          (keys.empty() ? "" : ", " + keys) + "}");
}

std::string ErrorOf(const std::string& keys) {
  const auto config = Parse(keys);
  return config.ok() ? "" : std::string(config.status().message());
}

TEST(LlamaConfigTest, AbsentKeysTakeHuggingFaceDefaults) {
  const auto config = Parse("");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->vocab_size, 32000);
  EXPECT_EQ(config->n_positions, 2048);
  EXPECT_EQ(config->n_embd, 4096);
  EXPECT_EQ(config->inner_size(), 11008);
  EXPECT_EQ(config->kv_heads(), 32);
  EXPECT_EQ(config->head_size(), 128);
  EXPECT_FLOAT_EQ(config->layer_norm_epsilon, 1e-6f);
  EXPECT_FALSE(config->tie_word_embeddings);
  EXPECT_EQ(config->rotary.theta, 10000);
  EXPECT_EQ(config->rotary.scaling, RotaryScaling::kNone);
}

// The published file of Llama 3.2 1B, as transformers 4 wrote it.
TEST(LlamaConfigTest, ReadsAPublishedFile) {
  const auto config = Parse(R"(
    "architectures": ["LlamaForCausalLM"], "attention_bias": false,
    "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": 128001,
    "head_dim": 64, "hidden_act": "silu", "hidden_size": 2048,
    "initializer_range": 0.02, "intermediate_size": 8192,
    "max_position_embeddings": 131072, "mlp_bias": false,
    "num_attention_heads": 32, "num_hidden_layers": 16,
    "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
    "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0,
      "low_freq_factor": 1.0, "original_max_position_embeddings": 8192,
      "rope_type": "llama3"},
    "rope_theta": 500000.0, "tie_word_embeddings": true,
    "torch_dtype": "bfloat16", "transformers_version": "4.45.0.dev0",
    "use_cache": true, "vocab_size": 128256)");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->kv_heads(), 8);
  EXPECT_EQ(config->rotary.scaling, RotaryScaling::kLlama3);
  EXPECT_EQ(config->rotary.theta, 500000);
  EXPECT_EQ(config->rotary.factor, 32);
  EXPECT_EQ(config->rotary.original_positions, 8192);
  EXPECT_TRUE(config->tie_word_embeddings);
}

TEST(LlamaConfigTest, OldAndNewSpellingsOfRotaryMeanTheSame) {
  for (const char* keys :
       {R"("rope_theta": 500, "rope_scaling": {"type": "linear",
           "factor": 2})",
        R"("rope_parameters": {"rope_type": "linear", "rope_theta": 500,
           "factor": 2, "partial_rotary_factor": 1.0})"}) {
    const auto config = Parse(keys);
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->rotary.theta, 500);
    EXPECT_EQ(config->rotary.factor, 2);
    EXPECT_EQ(config->rotary.scaling, RotaryScaling::kLinear);
  }
}

TEST(LlamaConfigTest, YarnWarmsTheScoresUnlessTold) {
  const std::string scaling = R"("rope_scaling": {"rope_type": "yarn",
      "factor": 4, "original_max_position_embeddings": 64)";
  EXPECT_NEAR(Parse(scaling + "}")->rotary.attention_factor, 1.138629436, 1e-9);
  EXPECT_EQ(
      Parse(scaling + R"(, "attention_factor": 2})")->rotary.attention_factor,
      2);
  EXPECT_NEAR(Parse(scaling + R"(, "mscale": 1, "mscale_all_dim": 0.5})")
                  ->rotary.attention_factor,
              1.138629436 / 1.069314718, 1e-9);
}

TEST(LlamaConfigTest, FeaturesThatAreNotComputedAreRefusedByName) {
  for (
      const auto& [keys, name] :
      std::initializer_list<std::pair<const char*, const char*>>{
          {R"("hidden_act": "gelu")", "hidden_act"},
          {R"("sliding_window": 4096)", "sliding_window"},
          {R"("quantization_config": {})", "quantization_config"},
          {R"("rope_interleaved": true)", "rope_interleaved"},
          {R"("rope_scaling": {"rope_type": "longrope"})",
           "rope_scaling.rope_type: is \"longrope\""},
          {R"("rope_scaling": {"rope_type": "linear"})",
           "rope_scaling.factor: is missing"},
          {R"("rope_scaling": {"type": "linear", "factor": 2, "beta_fast": 3})",
           "rope_scaling.beta_fast"},
          {R"("rope_parameters": {"partial_rotary_factor": 0.5})",
           "rope_parameters.partial_rotary_factor"},
          {R"("rope_parameters": {}, "rope_scaling": {})", "rope_scaling"},
          {R"("rope_theta": 3, "rope_parameters": {"rope_theta": 4})",
           "rope_theta"},
          {R"("rope_scaling": 3)", "rope_scaling"}}) {
    EXPECT_THAT(ErrorOf(keys), HasSubstr(name)) << keys;
  }
}

TEST(LlamaConfigTest, ValuesOutOfRangeAreRefusedByName) {
  for (const auto& [keys, name] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {R"("vocab_size": 0)", "vocab_size"},
           {R"("num_key_value_heads": 5)", "num_key_value_heads"},
           {R"("num_attention_heads": 3)", "num_attention_heads"},
           {R"("head_dim": 7)", "head_dim"},
           {R"("head_dim": 131072)", "num_attention_heads"},
           {R"("rms_norm_eps": 0)", "rms_norm_eps"},
           {R"("rope_theta": 1)", "rope_theta"},
           {R"("attention_dropout": 1)", "attention_dropout"},
           {R"("intermediate_size": 99999999)", "intermediate_size"},
           {R"("rope_scaling": {"type": "linear", "factor": 0.5})", "factor"},
           {R"("rope_scaling": {"type": "llama3", "factor": 2,
               "low_freq_factor": 4, "high_freq_factor": 4})",
            "low_freq_factor"},
           {R"("rope_scaling": {"type": "yarn", "factor": 2, "beta_slow": 40})",
            "beta_slow"},
           {R"("head_dim": 2, "rope_scaling": {"type": "dynamic",
               "factor": 2})",
            "head_dim"},
           {R"("hidden_size": 131072, "num_hidden_layers": 4096)", "2^40"}}) {
    EXPECT_THAT(ErrorOf(keys), HasSubstr(name)) << keys;
  }
}

TEST(LlamaConfigTest, AttentionDropoutIsReadAndNoneUnasked) {
  EXPECT_EQ(Parse(R"("attention_dropout": 0.125)")->attn_pdrop, 0.125);
  EXPECT_EQ(Parse(R"("hidden_act": "silu")")->attn_pdrop, 0);
}

TEST(LlamaConfigTest, HeadsNeedNotFillTheWidth) {
  const auto config =
      Parse(R"("hidden_size": 51, "num_attention_heads": 3, "head_dim": 14)");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->head_size(), 14);
}

}  // namespace
}  // namespace skerry::model
