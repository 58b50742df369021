#include "model/spec/gpt2_graph.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::model {
namespace {

using ::testing::ElementsAre;

ModelConfig Small() {
  ModelConfig config;
  config.vocab_size = 256;
  config.n_positions = 64;
  config.n_embd = 96;
  config.n_layer = 3;
  config.n_head = 3;
  return config;
}

TEST(Gpt2GraphTest, SmallestPublishedModelHas124439808Parameters) {
  EXPECT_EQ(BuildGpt2Graph(ModelConfig()).layout.element_count(), 124439808);
}

TEST(Gpt2GraphTest, TiedHeadIsStoredOnce) {
  ModelConfig config = Small();
  const Graph tied = BuildGpt2Graph(config);
  EXPECT_FALSE(tied.layout.Find("lm_head.weight").has_value());
  config.tie_word_embeddings = false;
  const Graph own = BuildGpt2Graph(config);
  EXPECT_TRUE(own.layout.Find("lm_head.weight").has_value());
  EXPECT_EQ(own.layout.element_count() - tied.layout.element_count(), 256 * 96);
}

TEST(Gpt2GraphTest, TensorsFollowOneAnotherWithoutGaps) {
  const Graph graph = BuildGpt2Graph(Small());
  int64_t offset = 0;
  for (const ParameterTensor& tensor : graph.layout.tensors()) {
    EXPECT_EQ(tensor.offset, offset) << tensor.name;
    offset += tensor.elements;
  }
  EXPECT_EQ(offset, graph.layout.element_count());
}

TEST(Gpt2GraphTest, LinearWeightsLieAsInputByOutput) {
  const Graph graph = BuildGpt2Graph(Small());
  const auto index = graph.layout.Find("transformer.h.2.attn.c_attn.weight");
  ASSERT_TRUE(index.has_value());
  EXPECT_THAT(graph.layout.tensor(*index).shape, ElementsAre(96, 288));
}

TEST(Gpt2GraphTest, OnlyMatricesDecay) {
  const Graph graph = BuildGpt2Graph(Small());
  for (const ParameterTensor& tensor : graph.layout.tensors()) {
    EXPECT_EQ(tensor.weight_decay, tensor.shape.size() == 2) << tensor.name;
  }
}

TEST(Gpt2GraphTest, OnlyAttentionReadsEarlierTokens) {
  for (const Operator& op : BuildGpt2Graph(Small()).operators) {
    EXPECT_EQ(op.token_access == TokenAccess::kEarlierTokens,
              op.kind == OperatorKind::kAttention)
        << op.name;
  }
}

}  // namespace
}  // namespace skerry::model
