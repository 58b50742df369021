#include "model/exec/stage_summary.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/spec/graph_cut.h"
#include "model/spec/model_graph.h"

namespace skerry::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kRows = 3;
constexpr int kColumns = 7;

ModelConfig Small(bool tied) {
  ModelConfig config;
  config.vocab_size = 31;
  config.n_positions = 8;
  config.n_embd = 12;
  config.n_layer = 4;
  config.n_head = 2;
  config.tie_word_embeddings = tied;
  return config;
}

TEST(StageSummaryTest, StagesAddUpToTheModel) {
  const Graph graph = BuildGraph(Small(false));
  const ModelSummary whole = SummarizeModel(Small(false), kRows, kColumns, 1);
  const auto positions = CutPositions(graph);
  const auto cut =
      SummarizeCut(graph, positions, kRows, kColumns, 1, Recompute::kNothing);
  double flops = 0;
  int64_t parameters = 0;
  for (const StageSummary& stage : cut.stages) {
    flops += stage.own.work.forward_flops + stage.own.work.backward_flops;
    parameters += stage.own.parameters;
  }
  EXPECT_DOUBLE_EQ(flops, whole.work.forward_flops + whole.work.backward_flops);
  EXPECT_EQ(parameters, whole.parameters);
  EXPECT_THAT(cut.shared, IsEmpty());
  EXPECT_EQ(cut.stages.front().first, "transformer.embedding");
  EXPECT_EQ(cut.stages.back().last, "loss");
}

TEST(StageSummaryTest, WhatCrossesHasItsShapeAndBytes) {
  const Graph graph = BuildGraph(Small(true));
  // Before the second operator of a block: the stream and its norm.
  const std::vector<int> cuts = {2};
  const auto cut =
      SummarizeCut(graph, cuts, kRows, kColumns, 1, Recompute::kNothing);
  ASSERT_EQ(cut.stages.size(), 2u);
  ASSERT_EQ(cut.stages[0].sent.size(), 2u);
  EXPECT_EQ(cut.stages[0].sent[1].name, "transformer.h.0.ln_1");
  EXPECT_EQ(cut.stages[0].sent[1].width, 12);
  EXPECT_EQ(cut.stages[0].sent[1].bytes, 4 * kRows * kColumns * 12);
  EXPECT_THAT(cut.stages[1].sent, IsEmpty());
  ASSERT_EQ(cut.shared.size(), 1u);
  EXPECT_EQ(cut.shared[0].tensor, "transformer.wte.weight");
  EXPECT_EQ(cut.shared[0].gradient_bytes, 4 * 31 * 12);
  EXPECT_THAT(cut.shared[0].stages, ElementsAre(0, 1));
}

TEST(StageSummaryTest, RecomputedBlocksOfAStageKeepLess) {
  const Graph graph = BuildGraph(Small(true));
  const std::vector<int> cuts = {int(graph.operators.size()) - 2};
  const auto kept =
      SummarizeCut(graph, cuts, kRows, kColumns, 1, Recompute::kNothing);
  const auto again =
      SummarizeCut(graph, cuts, kRows, kColumns, 1, Recompute::kBlocks);
  EXPECT_LT(again.stages[0].own.activation_bytes,
            kept.stages[0].own.activation_bytes / 2);
  EXPECT_GT(again.stages[0].own.recompute_flops, 0);
}

}  // namespace
}  // namespace skerry::model
