#include "model/exec/buffer_plan.h"

#include "gtest/gtest.h"
#include "model/spec/model_graph.h"

namespace skerry::model {
namespace {

ModelConfig Small() {
  ModelConfig config;
  config.vocab_size = 1000;
  config.n_positions = 32;
  config.n_embd = 24;
  config.n_layer = 2;
  config.n_head = 2;
  return config;
}

BufferPlan PlanOf(const ModelConfig& config, int rows, int columns,
                  int threads) {
  const Graph graph = BuildGraph(config);
  return PlanBuffers(graph, PlanMemory(graph), rows, columns, threads);
}

TEST(BufferPlanTest, ValuesGrowWithTheTokensAndScratchWithTheThreads) {
  const BufferPlan one = PlanOf(Small(), 1, 16, 1);
  const BufferPlan many = PlanOf(Small(), 3, 16, 4);
  EXPECT_EQ(many.values, 3 * one.values);
  EXPECT_EQ(many.gradients, 3 * one.gradients);
  EXPECT_EQ(many.lane_scratch, one.lane_scratch);
  EXPECT_EQ(many.scratch, 4 * one.lane_scratch);
}

TEST(BufferPlanTest, LogitsAreHeldForAPartOfTheTokens) {
  EXPECT_EQ(PlanOf(Small(), 1, 16, 1).head_tokens, 16u);
  EXPECT_EQ(PlanOf(Small(), 100, 16, 1).head_tokens, (1u << 18) / 1000);
}

TEST(BufferPlanTest, OnlyRotaryModelsHaveTables) {
  ModelConfig config = Small();
  EXPECT_EQ(PlanOf(config, 1, 16, 1).rotary, 0u);
  config.model_type = "llama";
  EXPECT_EQ(PlanOf(config, 1, 16, 1).rotary, 16u * 6);
}

}  // namespace
}  // namespace skerry::model
