#include "model/spec/gpt2_config.h"

#include <initializer_list>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::model {
namespace {

using ::testing::HasSubstr;

constexpr char kNoDropout[] =
    R"("resid_pdrop": 0.0, "embd_pdrop": 0, "attn_pdrop": 0.0)";

// A config with `keys` beside the required ones.
absl::StatusOr<ModelConfig> Parse(const std::string& keys) {
  return ParseModelConfig(std::string(R"({"model_type": "gpt2", )") +
                          kNoDropout + (keys.empty() ? "" : ", ") + keys + "}");
}

std::string ErrorOf(const std::string& keys) {
  const auto config = Parse(keys);
  return config.ok() ? "" : std::string(config.status().message());
}

TEST(Gpt2ConfigTest, AbsentKeysTakeHuggingFaceDefaults) {
  const auto config = Parse("");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->vocab_size, 50257);
  EXPECT_EQ(config->n_positions, 1024);
  EXPECT_EQ(config->n_embd, 768);
  EXPECT_EQ(config->inner_size(), 3072);
  EXPECT_EQ(config->activation, Activation::kGeluTanh);
  EXPECT_TRUE(config->tie_word_embeddings);
}

TEST(Gpt2ConfigTest, ReadsWhatTheFileSays) {
  const auto config = Parse(
      R"("vocab_size": 37, "n_positions": 16, "n_embd": 20, "n_layer": 2,
         "n_head": 2, "n_inner": 50, "activation_function": "gelu",
         "layer_norm_epsilon": 1e-6, "initializer_range": 0.1,
         "tie_word_embeddings": false, "scale_attn_weights": false,
         "bos_token_id": 5, "summary_type": "cls_index")");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->vocab_size, 37);
  EXPECT_EQ(config->head_size(), 10);
  EXPECT_EQ(config->inner_size(), 50);
  EXPECT_EQ(config->activation, Activation::kGeluErf);
  EXPECT_FLOAT_EQ(config->layer_norm_epsilon, 1e-6f);
  EXPECT_DOUBLE_EQ(config->initializer_range, 0.1);
  EXPECT_FALSE(config->tie_word_embeddings);
  EXPECT_FALSE(config->scale_attn_weights);
}

TEST(Gpt2ConfigTest, NullInnerWidthMeansFourTimesTheWidth) {
  const auto config = Parse(R"("n_embd": 24, "n_head": 2, "n_inner": null)");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->inner_size(), 96);
}

TEST(Gpt2ConfigTest, AbsentDropoutIsRefusedBecauseItMeansATenth) {
  const auto config = ParseModelConfig(R"({"model_type": "gpt2"})");
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(config.status().message(), HasSubstr("resid_pdrop"));
  EXPECT_THAT(config.status().message(), HasSubstr("0.1"));
}

TEST(Gpt2ConfigTest, DropoutRatesAreRead) {
  const auto config =
      Parse(R"("attn_pdrop": 0.125, "embd_pdrop": 0.25, "resid_pdrop": 0.5)");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->attn_pdrop, 0.125);
  EXPECT_EQ(config->embd_pdrop, 0.25);
  EXPECT_EQ(config->resid_pdrop, 0.5);
  for (const char* key : {"attn_pdrop", "embd_pdrop", "resid_pdrop"}) {
    const std::string name = std::string("\"") + key + "\": ";
    EXPECT_THAT(ErrorOf(name + "1"), HasSubstr(key));
    EXPECT_THAT(ErrorOf(name + "-0.1"), HasSubstr(key));
    EXPECT_THAT(ErrorOf(name + "\"0.1\""), HasSubstr(key));
  }
}

TEST(Gpt2ConfigTest, RefusalsNameTheField) {
  EXPECT_THAT(ErrorOf(R"("n_layer": 0)"), HasSubstr("n_layer"));
  EXPECT_THAT(ErrorOf(R"("n_layer": "2")"), HasSubstr("n_layer"));
  EXPECT_THAT(ErrorOf(R"("n_layer": 2.5)"), HasSubstr("n_layer"));
  EXPECT_THAT(ErrorOf(R"("n_layer": 99999999999)"), HasSubstr("n_layer"));
  EXPECT_THAT(ErrorOf(R"("vocab_size": -1)"), HasSubstr("vocab_size"));
  EXPECT_THAT(ErrorOf(R"("n_head": 5)"), HasSubstr("n_head"));
  EXPECT_THAT(ErrorOf(R"("activation_function": "mish")"),
              HasSubstr("activation_function: is \"mish\"; supported: "
                        "\"gelu_new\", \"gelu_pytorch_tanh\""));
  EXPECT_THAT(ErrorOf(R"("n_embd": 24, "n_head": 2, "hidden_size": 36)"),
              HasSubstr("hidden_size: is 36, and n_embd is 24, which is the "
                        "same field; write n_embd alone"));
  EXPECT_THAT(ErrorOf(R"("layer_norm_epsilon": 0)"),
              HasSubstr("layer_norm_epsilon"));
  EXPECT_THAT(ErrorOf(R"("tie_word_embeddings": 1)"),
              HasSubstr("tie_word_embeddings"));
  EXPECT_THAT(ErrorOf(R"("add_cross_attention": true)"),
              HasSubstr("add_cross_attention"));
  EXPECT_THAT(ErrorOf(R"("n_embd": 131072, "n_layer": 4096, "n_head": 1)"),
              HasSubstr("2^40"));
}

TEST(Gpt2ConfigTest, EveryNameOfAnActivationIsRead) {
  for (const auto& [name, activation] :
       std::initializer_list<std::pair<const char*, Activation>>{
           {"gelu_new", Activation::kGeluTanh},
           {"gelu_pytorch_tanh", Activation::kGeluTanh},
           {"gelu_fast", Activation::kGeluTanh},
           {"gelu", Activation::kGeluErf},
           {"relu", Activation::kRelu},
           {"silu", Activation::kSilu},
           {"swish", Activation::kSilu}}) {
    const auto config =
        Parse("\"activation_function\": \"" + std::string(name) + "\"");
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->activation, activation) << name;
  }
}

TEST(Gpt2ConfigTest, FieldsUnderTheirOtherNamesMayAgree) {
  EXPECT_EQ(ErrorOf(R"("n_embd": 24, "n_head": 2, "n_layer": 3,
                       "n_positions": 8, "hidden_size": 24,
                       "num_attention_heads": 2, "num_hidden_layers": 3,
                       "max_position_embeddings": 8)"),
            "");
}

// What release 2 of transformers wrote beside the model's own keys.
TEST(Gpt2ConfigTest, ConfigsOfOldReleasesAreRead) {
  EXPECT_EQ(ErrorOf(R"("do_sample": false, "eos_token_ids": 50256,
                       "id2label": {"0": "LABEL_0"}, "is_decoder": false,
                       "length_penalty": 1.0, "num_beams": 1,
                       "output_past": true, "pruned_heads": {},
                       "repetition_penalty": 1.0, "torchscript": false,
                       "gradient_checkpointing": false,
                       "use_bfloat16": false)"),
            "");
}

TEST(Gpt2ConfigTest, UnknownKeysAreRefusedByName) {
  EXPECT_THAT(ErrorOf(R"("multi_query": true)"), HasSubstr("multi_query"));
  EXPECT_EQ(ErrorOf(R"("n_ctx": 1024, "multi_query": null, "prefix": "x")"),
            "");
  EXPECT_EQ(ErrorOf(R"("multi_query": false)"), "");
}

}  // namespace
}  // namespace skerry::model
