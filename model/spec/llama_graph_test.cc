#include "model/spec/llama_graph.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::model {
namespace {

using ::testing::ElementsAre;

ModelConfig Small() {
  ModelConfig config;
  config.model_type = "llama";
  config.vocab_size = 37;
  config.n_positions = 16;
  config.n_embd = 20;
  config.n_layer = 2;
  config.n_head = 4;
  config.n_kv_head = 2;
  config.head_dim = 6;
  config.n_inner = 27;
  config.tie_word_embeddings = false;
  return config;
}

// The counts that Hugging Face states for the published checkpoints.
TEST(LlamaGraphTest, PublishedModelsHaveTheirPublishedSizes) {
  ModelConfig config;
  config.model_type = "llama";
  config.vocab_size = 128256;
  config.n_positions = 131072;
  config.n_embd = 2048;
  config.n_layer = 16;
  config.n_head = 32;
  config.n_kv_head = 8;
  config.n_inner = 8192;
  EXPECT_EQ(BuildLlamaGraph(config).layout.element_count(), 1235814400);
  config.vocab_size = 32000;
  config.n_embd = 4096;
  config.n_layer = 32;
  config.n_kv_head = 0;
  config.n_inner = 11008;
  config.tie_word_embeddings = false;
  EXPECT_EQ(BuildLlamaGraph(config).layout.element_count(), 6738415616);
}

TEST(LlamaGraphTest, TensorsHaveTheCheckpointsNamesOrderAndShapes) {
  const Graph graph = BuildLlamaGraph(Small());
  std::vector<std::string> names;
  for (const ParameterTensor& tensor : graph.layout.tensors()) {
    if (!tensor.name.starts_with("model.layers.1"))
      names.push_back(tensor.name);
  }
  EXPECT_THAT(names,
              ElementsAre("model.embed_tokens.weight",
                          "model.layers.0.self_attn.q_proj.weight",
                          "model.layers.0.self_attn.k_proj.weight",
                          "model.layers.0.self_attn.v_proj.weight",
                          "model.layers.0.self_attn.o_proj.weight",
                          "model.layers.0.mlp.gate_proj.weight",
                          "model.layers.0.mlp.up_proj.weight",
                          "model.layers.0.mlp.down_proj.weight",
                          "model.layers.0.input_layernorm.weight",
                          "model.layers.0.post_attention_layernorm.weight",
                          "model.norm.weight", "lm_head.weight"));
  const auto shape = [&](const char* name) {
    return graph.layout.tensor(*graph.layout.Find(name)).shape;
  };
  EXPECT_THAT(shape("model.layers.1.self_attn.q_proj.weight"),
              ElementsAre(24, 20));
  EXPECT_THAT(shape("model.layers.1.self_attn.k_proj.weight"),
              ElementsAre(12, 20));
  EXPECT_THAT(shape("model.layers.1.self_attn.o_proj.weight"),
              ElementsAre(20, 24));
  EXPECT_THAT(shape("model.layers.1.mlp.down_proj.weight"),
              ElementsAre(20, 27));
}

TEST(LlamaGraphTest, BiasesFollowTheirWeights) {
  ModelConfig config = Small();
  config.attention_bias = true;
  config.mlp_bias = true;
  const ParameterLayout layout = BuildLlamaGraph(config).layout;
  for (const char* name : {"self_attn.v_proj", "self_attn.o_proj",
                           "mlp.up_proj", "mlp.down_proj"}) {
    const std::string at = std::string("model.layers.0.") + name;
    EXPECT_EQ(*layout.Find(at + ".bias"), *layout.Find(at + ".weight") + 1);
  }
}

TEST(LlamaGraphTest, OnlyAttentionReadsEarlierTokens) {
  for (const Operator& op : BuildLlamaGraph(Small()).operators) {
    EXPECT_EQ(op.token_access == TokenAccess::kEarlierTokens,
              op.kind == OperatorKind::kAttention)
        << op.name;
  }
}

}  // namespace
}  // namespace skerry::model
