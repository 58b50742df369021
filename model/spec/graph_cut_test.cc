#include "model/spec/graph_cut.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/spec/model_graph.h"

namespace skerry::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Graph GraphOf(const std::string& type, bool tied) {
  ModelConfig config;
  config.model_type = type;
  config.vocab_size = 11;
  config.n_positions = 8;
  config.n_embd = 12;
  config.n_layer = 2;
  config.n_head = 2;
  config.tie_word_embeddings = tied;
  if (type == "llama") {
    config.n_kv_head = 1;
    config.n_inner = 20;
  }
  return BuildGraph(config);
}

int Position(const Graph& graph, const std::string& name) {
  const auto it =
      std::find_if(graph.operators.begin(), graph.operators.end(),
                   [&](const Operator& op) { return op.name == name; });
  return static_cast<int>(it - graph.operators.begin());
}

std::vector<std::string> Names(const Graph& graph,
                               const std::vector<int>& values) {
  std::vector<std::string> names;
  for (const int value : values) names.push_back(graph.values[value].name);
  return names;
}

TEST(GraphCutTest, EveryEdgeButThoseInsideWhatRunsAsOne) {
  const Graph graph = GraphOf("gpt2", true);
  const auto cuts = CutPositions(graph);
  // Two branches a block run into their adds, and the head into the loss.
  EXPECT_EQ(cuts.size(), graph.operators.size() - 1 - 2 * 2 - 1);
  for (const char* name : {"transformer.h.1.attn.residual",
                           "transformer.h.1.mlp.residual", "loss"}) {
    EXPECT_FALSE(
        std::binary_search(cuts.begin(), cuts.end(), Position(graph, name)))
        << name;
  }
}

TEST(GraphCutTest, WhatOneStageGivesTheNextTakes) {
  for (const char* type : {"gpt2", "llama"}) {
    const Graph graph = GraphOf(type, true);
    const auto stages = CutGraph(graph, CutPositions(graph));
    EXPECT_THAT(stages.front().graph.inputs, IsEmpty());
    EXPECT_THAT(stages.back().graph.outputs, IsEmpty());
    for (size_t i = 1; i < stages.size(); ++i) {
      EXPECT_EQ(Names(stages[i - 1].graph, stages[i - 1].graph.outputs),
                Names(stages[i].graph, stages[i].graph.inputs));
      EXPECT_EQ(stages[i - 1].operators.end, stages[i].operators.begin);
      EXPECT_FALSE(stages[i].graph.inputs.empty());
    }
  }
}

TEST(GraphCutTest, TheStreamGoesPastAStageInsideABranch) {
  const Graph graph = GraphOf("gpt2", true);
  const int act = Position(graph, "transformer.h.0.mlp.act");
  const std::vector<int> cuts = {act, act + 1};
  const auto stages = CutGraph(graph, cuts);
  EXPECT_THAT(
      Names(stages[1].graph, stages[1].graph.inputs),
      ElementsAre("transformer.h.0.attn.residual", "transformer.h.0.mlp.c_fc"));
  EXPECT_THAT(
      Names(stages[1].graph, stages[1].graph.outputs),
      ElementsAre("transformer.h.0.attn.residual", "transformer.h.0.mlp.act"));
}

TEST(GraphCutTest, EachStageHasItsTensorsInTheOrderOfTheWhole) {
  for (const bool tied : {true, false}) {
    const Graph graph = GraphOf("llama", tied);
    const std::vector<int> cuts = {5, 17, 20};
    const auto stages = CutGraph(graph, cuts);
    int64_t elements = 0;
    for (const StageGraph& stage : stages) {
      ASSERT_TRUE(std::is_sorted(stage.tensors.begin(), stage.tensors.end()));
      ASSERT_EQ(stage.graph.layout.tensors().size(), stage.tensors.size());
      for (size_t i = 0; i < stage.tensors.size(); ++i) {
        const ParameterTensor& whole = graph.layout.tensor(stage.tensors[i]);
        const ParameterTensor& own =
            stage.graph.layout.tensor(static_cast<int>(i));
        EXPECT_EQ(own.name, whole.name);
        EXPECT_EQ(own.shape, whole.shape);
        EXPECT_EQ(own.weight_decay, whole.weight_decay);
        EXPECT_EQ(own.initializer, whole.initializer);
      }
      elements += stage.graph.layout.element_count();
    }
    const auto shared = SharedTensors(stages);
    ASSERT_EQ(shared.size(), tied ? 1u : 0u);
    if (tied) {
      EXPECT_THAT(shared[0].stages, ElementsAre(0, 3));
      elements -= graph.layout.tensor(shared[0].tensor).elements;
    }
    EXPECT_EQ(elements, graph.layout.element_count());
  }
}

TEST(GraphCutTest, OnlyTheLastStageHasTheHead) {
  const Graph graph = GraphOf("gpt2", false);
  const int head = Position(graph, "lm_head");
  const std::vector<int> cuts = {3, head};
  const auto stages = CutGraph(graph, cuts);
  EXPECT_FALSE(HasHead(stages[0].graph));
  EXPECT_EQ(BodySize(stages[1].graph), head - 3);
  EXPECT_TRUE(HasHead(stages[2].graph));
  EXPECT_EQ(BodySize(stages[2].graph), 0);
}

TEST(GraphCutTest, CutsThatCannotBeAreRefusedByName) {
  const Graph graph = GraphOf("gpt2", true);
  const auto error = [&](std::vector<int> cuts) {
    return std::string(ValidateCuts(graph, cuts).message());
  };
  EXPECT_EQ(error({}), "");
  EXPECT_EQ(error({1, 2}), "");
  EXPECT_THAT(error({0}), HasSubstr("operator 0, must be 1 to"));
  EXPECT_THAT(error({static_cast<int>(graph.operators.size())}),
              HasSubstr("must be 1 to"));
  EXPECT_THAT(error({2, 2}), HasSubstr("attn.c_attn follows a later one"));
  EXPECT_THAT(error({Position(graph, "transformer.h.1.mlp.residual")}),
              HasSubstr("as one with transformer.h.1.mlp.c_proj"));
  EXPECT_THAT(error({Position(graph, "loss")}),
              HasSubstr("as one with lm_head"));
}

}  // namespace
}  // namespace skerry::model
